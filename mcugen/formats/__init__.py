"""Model files: reading and writing, with a folder for each format."""
