"""Checks of a built model: against the oracle, on the host and on emulated cores; and scores on samples."""
