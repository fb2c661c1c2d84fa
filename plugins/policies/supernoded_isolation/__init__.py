"""Cards. Begun: what their health codes mean, and which are lost."""
