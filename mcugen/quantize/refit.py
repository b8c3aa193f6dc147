"""Refit of a pruned network: its layers are fitted, one after the other, to the results of the original network."""

from __future__ import annotations

from functools import partial

import numpy as np

from mcugen.ir.graph import Node
from mcugen.passes.remove_channels import Masks
from mcugen.quantize import layers, rounding
from mcugen.quantize.backwards import Arrays, ForwardPass, GradientNetwork, Step, is_layer, matrix, unmatrix
from mcugen.quantize.im2col import im2col
from mcugen.quantize.moments import thinning
from mcugen.quantize.parallel import in_threads, parts

Pairs = dict[int, tuple[ForwardPass, ...]]
"""Index of the first sample of a part -> forward passes of the student and of the teacher on that part."""


def refitted(student: GradientNetwork, teacher: GradientNetwork, inputs: Arrays, gone: Masks) -> dict[str, np.ndarray]:
    """Weights and biases of the student's layers, fitted to the teacher's results by least squares.

    Each layer is fitted for the inputs that reach it in the student. gone: channels that the student lacks
    """
    count = len(next(iter(inputs.values())))
    which = parts(teacher, count)
    pairs = {
        part.start: tuple(ForwardPass({name: a[part] for name, a in inputs.items()}) for _ in (0, 1)) for part in which
    }
    last = {name: k for k, (node, _, _) in enumerate(teacher.steps) for name in (*node.inputs, *node.outputs)}
    found: dict[str, np.ndarray] = {}
    for k, (mine, theirs) in enumerate(zip(student.steps, teacher.steps, strict=True)):
        node = mine[0]
        in_threads(partial(_take, teacher, theirs, pairs, 1), which)
        if is_layer(student.graph, node):
            found.update(_solved(student, mine, pairs, ~gone[node.outputs[0]], count))
        in_threads(partial(_take, student.with_weights(found), mine, pairs, 0), which)
        for run in (run for pair in pairs.values() for run in pair):
            run.met.clear()
            for name in [name for name in run.values if last.get(name, k) <= k]:
                run.values.pop(name)
                run.sums.pop(name, None)
    return found


def _take(network: GradientNetwork, step: Step, pairs: Pairs, which: int, part: slice) -> None:
    network.take(pairs[part.start][which], step)


def _solved(student: GradientNetwork, step: Step, pairs: Pairs, kept: np.ndarray, count: int) -> dict[str, np.ndarray]:
    """Weights and bias of a layer. kept: mask of the channels of the teacher's result that the student has, too."""
    node, call, _ = step
    sums = None
    for mine, theirs in pairs.values():
        x = mine.values[str(node.inputs[0])]
        name = node.outputs[0]
        wanted = theirs.sums.get(name, theirs.values[name])[..., kept]
        met = im2col(call.op, call, x.reshape(-1, *x.shape[2:]), 1)
        assert met is not None
        flat = wanted.reshape(-1, len(met), wanted.shape[-1] // len(met)).transpose(1, 0, 2)
        step_of_rows = thinning(met.shape[1] // len(x) * count, met.shape[2])
        met, flat = met[:, ::step_of_rows], np.ascontiguousarray(flat[:, ::step_of_rows])
        sums = layers.Gathered((len(met), flat.shape[2], met.shape[2]), True, True) if sums is None else sums
        sums.add(met, flat)
    assert sums is not None
    return _constants(student, node, sums.moments())


def _constants(student: GradientNetwork, node: Node, moments: rounding.Moments) -> dict[str, np.ndarray]:
    call = student.graph.call(node, student.reference)
    w = matrix(call).astype(np.float64).reshape(*moments.y.shape, -1)
    w = rounding.refitted(w, moments)
    found = {str(node.inputs[1]): unmatrix(call, w.reshape(-1, w.shape[-1]).astype(np.float32))}
    if call.has(2):
        bias = moments.y - np.einsum("gok,gk->go", w, moments.x)
        found[str(node.inputs[2])] = bias.reshape(call.input(2).shape).astype(np.float32)
    return found
