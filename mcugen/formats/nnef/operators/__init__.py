"""Decompositions of NNEF operators."""
