"""Quantization: a float network and samples of its inputs become an integer network that is fitted to these samples."""
