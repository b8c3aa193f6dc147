"""Decompositions of ONNX operators."""
