"""Pages that every build writes besides its C. Each module here is one page, found by name.

Its function files(output) gives: path relative to the folder -> function for the content.
"""
