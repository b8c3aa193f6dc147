"""NNEF: reading, and operators that expand to several."""
