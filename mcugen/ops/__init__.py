"""Operators, one module each: attributes, shapes, meaning, portable kernels. Shared recipes begin with `_`."""
