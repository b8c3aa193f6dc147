"""Decompositions of TensorFlow Lite operators."""
