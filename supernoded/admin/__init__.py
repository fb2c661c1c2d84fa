"""What a daemon answers to the people on its own machine: HTTP over a unix socket, and its metrics."""
