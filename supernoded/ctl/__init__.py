"""supernodectl: what a person at a terminal, or a script, asks of the daemon on this machine."""
