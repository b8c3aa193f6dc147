"""The oracle's arithmetic: the numbers that the reference runtimes derive from scales, and their rounding.

Only `reference` and `reference_q` of operators use it. It is written from the runtimes' definitions, in exact rational
numbers with a rounding to float32 or float64 where the runtimes round, and shares nothing with the functions that make
the emitted constants (`mcugen.numeric` and those beside the kernels): a fault in one of the two is a difference.
"""
