"""Pages that every build writes beside its C: one module per page, discovered; each has `files(output)`.

files(output) -> path relative to the folder -> Content.
"""
