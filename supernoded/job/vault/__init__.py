"""The vault: a process that makes checkpoints durable. Ranks save to shared memory and go on; it hashes, copies, verifies and clears up."""
