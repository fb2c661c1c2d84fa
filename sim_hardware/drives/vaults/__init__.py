"""The real vault on the simulator: its files are real, its time is virtual, and it can be killed between any two of its operations."""
