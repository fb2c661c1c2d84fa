"""supernoded: a daemon that closes the loop from the wire to the training job."""

__version__ = "0.1.0"
