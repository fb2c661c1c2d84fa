"""Cards and the nodes they are in."""
