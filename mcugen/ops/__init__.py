"""One module per operator; shared recipes start with an underscore."""
