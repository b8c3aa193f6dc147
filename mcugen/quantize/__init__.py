"""From a float model and a few samples to an int8 model: samples, ranges, rounding, and the choice between them."""
