"""The representation of a network: element types, tensors, graphs, operators, calls and kernels."""
