"""Model files: what is read and written, a folder for each format."""
