"""The training job: ranks, steps, a collective, checkpoints."""
