"""Boards and cores: their files, memories and instruction sets."""
