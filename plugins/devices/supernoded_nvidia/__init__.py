"""NVIDIA cards: `nvidia-smi`, NVLink, and what the kernel says of them."""
