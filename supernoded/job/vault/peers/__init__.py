"""The optional tier on another node: parts go to a peer's memory once they are whole, and come back when this node has lost its own."""
