"""Scenarios: what is done to a rack, what must come of it, and the verdict. Which rack, and in which time, is a drive's business."""
