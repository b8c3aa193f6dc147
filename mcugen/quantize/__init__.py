"""Quantization: a float network and samples of its inputs become a network of integers, solved against these."""
