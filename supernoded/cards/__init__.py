"""The daemon's own parts for cards: holds as actions, the fence, the test, evidence, and what people are told of them."""
