"""What flows over the links: congestion settings, silent loss, time-outs of the communication library."""
