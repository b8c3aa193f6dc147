"""Times of models and kernels on OpenCL devices."""
