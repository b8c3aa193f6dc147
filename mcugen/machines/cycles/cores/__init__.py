"""Cycle models: one module per bare core, named like the core with `_` for `-`, which defines MODEL. No list exists."""
