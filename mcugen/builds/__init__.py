"""Commands that take several builds: curves, shared arenas, weight blobs, mixed precision."""
