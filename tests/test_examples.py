"""The lists of examples: they reach every kernel, every rule and every corner that windows and weights have."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mcugen import kernels
from mcugen.formats import registry
from mcugen.ir.call import Call, Rule
from mcugen.ir.kernel import Kernel, RowWindow, Whole, Window
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import hybrid_conv2d, tree_ensemble
from mcugen.ops.hybrid_conv2d import HybridConv2D
from mcugen.ops.real_fourier import RealFourier
from mcugen.ops.shape import Shape
from mcugen.ops.strided_slice import StridedSlice
from mcugen.ops.transpose import Transpose
from mcugen.ops.tree_ensemble import TreeEnsemble
from mcugen.oracle import interpreter
from tests.support import calls
from tests.support.cases import folded, graph_of


def planted(op: Op, shape: tuple[int, ...]) -> Call:
    """A call on one int8 tensor."""
    x = TensorType(shape, "s8", QuantParams((0.5,), (0,)))
    return Call(op, (x,), op.infer(x), (None,), "tflm")


def long_transform() -> Call:
    """A transform of more numbers than copies of known sizes are made for."""
    x, op = TensorType((4096,), "s16"), RealFourier(4096)
    return Call(op, (x,), op.infer(x), (None,), "tflm")


class LargeForest(TreeEnsemble):
    """More comparisons than branches are made for. Source: TreeEnsemble."""

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [tree_ensemble.example(0, trees=50, depth=9)]


class OddHybrid(HybridConv2D):
    """A bias of -0 and weights of -128, which no kernel for a core takes. Source: HybridConv2D."""

    @classmethod
    def examples(cls) -> Sequence[Example]:
        found = hybrid_conv2d.example(0, (1, 5, 7), 3, 5, (3, 3))
        odd = {3: np.full(found.inputs[3].shape, -128, np.int8), 4: np.full(5, -0.0, np.float32)}
        return [replace(found, constants=odd)]


def wide_window(op: type[Op], size: int) -> Call:
    """The first call of an operator's examples with a window of so many rows and columns over an image as large."""
    call = calls.example_calls(op)[0]
    x, w, *others = call.inputs
    assert x and w
    shape = (w.shape[0], size, size, w.shape[3])
    constants = (None, np.zeros(shape, w.np_dtype), *call.constants[2:])
    image, y = (t.with_shape((1, size, size, t.shape[3])) for t in (x, call.output))
    return dataclasses.replace(call, inputs=(image, w.with_shape(shape), *others), outputs=(y,), constants=constants)


OPS: dict[str, type[Op]] = {op.__name__: op for op in registry.load().ops}
WEIGHTED = sorted(name for name, op in OPS.items() if op.weight_operands)
WINDOWED = sorted(
    name
    for name, op in OPS.items()
    if any(isinstance(k.form, Window) for k in kernels.of(op)) and hasattr(op, "stride") and hasattr(op, "padding")
)
PLANTED: dict[str, list[Call]] = {
    "Transpose": [planted(Transpose((1, 0, 3, 2, 5, 4, 7, 6)), (2,) * 8)],
    "DepthwiseConv2D": [wide_window(OPS["DepthwiseConv2D"], 200)],
    "HybridConv2D": calls.example_calls(OddHybrid),
    "RealFourier": [long_transform()],
    "Shape": [planted(Shape(), (2, 3))],
    "TreeEnsemble": [calls.example_calls(LargeForest)[0]],
    "StridedSlice": [planted(StridedSlice(((0, 2, 1),) * 8, (2,) * 8), (3,) * 8)],
}
"""Calls that no example can stand for, since every example has a kernel."""
CHANNELS = {1, 3, 5, 8, 17}
ZERO_POINTS = {-128, 0, 127}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted(OPS))
def test_each_kernel_takes_an_example_and_each_example_has_one(name: str) -> None:
    op = OPS[name]
    if all(folded(example) is not None for example in op.examples()):
        return  # nothing is left of it at run time: see the next test
    idle = [kernel.symbol for kernel in kernels.of(op) if not calls.accepted(kernel, op)]
    assert not idle, f"no example of {name} runs on {', '.join(idle)}"
    known, features = kernels.of(op), kernels.features()
    bare = [call for call in calls.example_calls(op) if all(kernel.refusals(call, features) for kernel in known)]
    assert not bare, f"no kernel takes {bare[0]}"


@pytest.mark.parametrize("name", sorted(OPS))
def test_what_is_folded_equals_the_reference(name: str) -> None:
    for example in OPS[name].examples():
        found = folded(example)
        if found is None:
            continue
        graph = graph_of(example)
        inputs = [np.zeros(graph.type(n).shape, graph.type(n).np_dtype) for n in graph.inputs]
        values = interpreter.run(graph, inputs, "tflm")
        assert all(np.array_equal(a, values[n]) for a, n in zip(found, graph.outputs, strict=True))


@cache
def users() -> dict[Rule, list[str]]:
    """The operators that use each rule: a call of any of them may show that it can fail."""
    found: dict[Rule, list[str]] = {}
    for name, op in OPS.items():
        for rule in dict.fromkeys(rule for kernel in kernels.of(op) for rule in kernel.accepts):
            found.setdefault(rule, []).append(name)
    return found


def can_fail(rule: Rule) -> bool:
    given = [call for name in users()[rule] for call in (*calls.example_calls(OPS[name]), *PLANTED.get(name, ()))]
    if any(calls.violates(rule, call) for call in given):
        return True
    return any(calls.violates(rule, bad) for call in given for bad in calls.hostile(call))


@pytest.mark.parametrize("name", sorted(OPS))
def test_each_rule_can_fail(name: str) -> None:
    rules = dict.fromkeys(rule for kernel in kernels.of(OPS[name]) for rule in kernel.accepts)
    never = [(rule.__doc__ or rule.__name__).strip() for rule in rules if not can_fail(rule)]
    assert not never, f"rules of {name} that refuse nothing: {'; '.join(never)}"


@pytest.mark.parametrize("name", sorted(OPS))
def test_the_docstring_names_its_source_and_the_rules_speak(name: str) -> None:
    op = OPS[name]
    assert "Source:" in (op.__doc__ or "")
    silent = [r.__name__ for k in kernels.of(op) for r in k.accepts if not (r.__doc__ or "").strip()]
    assert not silent, f"rules of {name} without a message: {silent}"


@pytest.mark.parametrize("name", sorted(OPS))
def test_examples_are_small_and_state_the_types_they_have(name: str) -> None:
    for k, example in enumerate(OPS[name].examples()):
        where = f"{name} example {k}"
        given = [t for t in (*example.inputs, *example.outputs) if t is not None]
        assert max(t.size for t in given) <= 8192, where
        inferred = example.op.infer(*example.inputs)
        assert [t.shape for t in inferred] == [t.shape for t in example.outputs], where
        assert graph_of(example).nodes[0].op is example.op, where


def windows(op: type[Op]) -> Iterator[tuple[Call, RowWindow]]:
    """The calls that run on a windowed kernel, with their vertical geometry."""
    for call in calls.example_calls(op):
        for kernel in kernels.of(op):
            if isinstance(kernel.form, Window) and not kernel.refusals(call, kernels.features()):
                yield call, kernel.form.rows(call)
                break


def strides_over(call: Call, w: RowWindow) -> bool:
    """Whether rows fall between the windows: of the input, or, where the output is the larger one, of that."""
    return call.op.stride[0] > call.input(1).shape[1] if w.firsts else w.stride > w.size  # type: ignore[attr-defined]


def corners(op: type[Op]) -> dict[str, bool]:
    """The corners of a sliding window that the examples of an operator reach."""
    found = list(windows(op))
    fields = {f.name for f in dataclasses.fields(op)}
    reached = {
        "kernel larger than the input": any(w.size > w.in_rows for _, w in found),
        "stride larger than the kernel": any(strides_over(call, w) for call, w in found),
        "even kernel": any(w.size % 2 == 0 for _, w in found),
        "padding above": any(w.pad > 0 for _, w in found),
        "no padding": any(not w.leaves_image for _, w in found),
        "image of one row": any(call.input(0).shape[1] == 1 for call, _ in found),
        "image of one column": any(call.input(0).shape[2] == 1 for call, _ in found),
        "more images than one": any(call.input(0).shape[0] > 1 for call, _ in found),
        "fused activation": any(getattr(call.op, "activation", "NONE") != "NONE" for call, _ in found),
    }
    if "dilation" in fields:
        reached["dilation"] = any(w.dilation > 1 for _, w in found)
    if op.__name__.startswith("Depthwise"):
        reached["depth multiplier above 1"] = any(call.output.shape[3] > call.input(0).shape[3] for call, _ in found)
    return reached


@pytest.mark.parametrize("name", WINDOWED)
def test_windows_are_tried_at_their_corners(name: str) -> None:
    missing = [corner for corner, there in corners(OPS[name]).items() if not there]
    assert not missing, f"the examples of {name} lack: {', '.join(missing)}"


@pytest.mark.parametrize("name", WINDOWED)
def test_channels_and_zero_points_are_awkward(name: str) -> None:
    found = [call for call, _ in windows(OPS[name])]
    channels = {call.input(0).shape[3] for call in found} | {call.output.shape[3] for call in found}
    assert channels >= CHANNELS, f"channels of {name} lack {sorted(CHANNELS - channels)}"
    assert not (missing := ZERO_POINTS - zero_points(found)), f"zero points of {name} lack {sorted(missing)}"


@pytest.mark.parametrize("name", WEIGHTED)
def test_multipliers_shifts_and_accumulators_reach_their_ends(name: str) -> None:
    op = OPS[name]
    found = [call for call in calls.example_calls(op) if call.input(0).dtype == "s8" and call.input(1).dtype == "s8"]
    assert found, f"{name} has no int8 example"
    assert zero_points(found) >= ZERO_POINTS
    factors = np.concatenate([multipliers(call) for call in found])
    assert factors.max() > 1.0, "no multiplier above 1"
    assert factors.min() < 2.0**-20, "no long shift to the right"
    assert max(peak(call) for call in found) >= 2**30, "no accumulator near overflow"


def test_the_lists_are_not_empty() -> None:
    assert {"AveragePool2D", "Conv2D", "DepthwiseConv2D", "MaxPool2D"} <= set(WINDOWED)
    assert {"Conv2D", "DepthwiseConv2D", "FullyConnected"} <= set(WEIGHTED)


def zero_points(found: Sequence[Call]) -> set[int]:
    return {call.input(0).zero_point for call in found if call.input(0).dtype == "s8"}


def multipliers(call: Call) -> np.ndarray:
    """scale_x * scale_w / scale_y of each channel."""
    weights = call.input(1).quant
    assert weights is not None
    return call.input(0).scale * np.asarray(weights.scale) / call.output.scale


def peak(call: Call) -> int:
    """The largest magnitude an accumulator may reach, from bias and weights alone."""
    biases = [np.abs(c.astype(np.int64)).max() for c in call.constants[2:] if c is not None and c.dtype == np.int32]
    weights = np.abs(call.constant(1).astype(np.int64)).sum()
    return int(max(biases, default=0) + weights)


def test_a_kernel_without_an_example_and_a_rule_that_cannot_fail_would_be_found() -> None:
    def always(call: Call) -> bool:
        "nothing"
        return True

    def never(call: Call) -> bool:
        "everything"
        return False

    op = OPS["MaxPool2D"]
    call = calls.example_calls(op)[0]
    assert not calls.accepted(Kernel("mg_nothing", Whole(), accepts=(never,)), op)
    assert calls.accepted(Kernel("mg_all", Whole(), accepts=(always,)), op)
    assert not any(calls.violates(always, bad) for bad in calls.hostile(call))
    assert all(calls.violates(never, bad) for bad in calls.hostile(call))
