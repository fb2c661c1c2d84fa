"""`make demo` shows the daemon at work."""
