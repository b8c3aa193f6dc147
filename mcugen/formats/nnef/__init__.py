"""NNEF: reading, and operators that become several."""
