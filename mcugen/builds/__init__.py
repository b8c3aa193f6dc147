"""Commands that make several builds: Pareto curves, shared arenas, weight blobs, mixed precision."""
