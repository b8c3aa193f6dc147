"""The oracle: a graph in NumPy, with the numbers and roundings of the reference runtimes. It never calls C.

`interpreter` runs a graph through each operator's own reference, `stimuli` draws inputs, `near_ties` names
integers that hang on the last bit of a float. The other modules hold the
arithmetic; only `reference` and `reference_q` of operators use it. It is written from the runtimes' definitions, in
exact rational numbers with a rounding to float32 or float64 where the runtimes round, and shares nothing with the
functions that make the emitted constants (`mcugen.ir.fixed_point` and those beside the kernels): a fault in one of the
two is a difference.
"""
