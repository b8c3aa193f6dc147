"""The oracle: a graph in NumPy, with the numbers and roundings of the reference runtimes. It never calls C.

`interpreter` runs a graph through each operator's own reference. `stimuli` draws inputs. `near_ties` lists integers
that depend on the last bit of a float. The other modules hold the arithmetic, which only `reference` and `reference_q`
of operators use.

The arithmetic follows the runtimes' definitions: exact rational numbers, rounded to float32 or float64 wherever the
runtimes round. It shares no code with the functions that make the emitted constants (`mcugen.ir.fixed_point`, and
functions beside the kernels), so that a fault in either shows as a difference.
"""
