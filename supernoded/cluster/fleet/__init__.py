"""What the holder of `fleet` does: it hears every beat, and grants take-outs."""
