"""The training job: what its ranks say, what is asked of them, and where their checkpoints go."""
