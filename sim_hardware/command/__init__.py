"""`supernode-sim`: serve a simulated rack over its real protocols, and work it."""
