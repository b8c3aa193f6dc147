"""What a network is: element types, tensors, graphs, operators, calls and kernels."""
