"""`make demo` shows the daemon at work on a simulated rack."""
