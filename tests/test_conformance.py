"""Every operator x example x kernel: C against the oracle, on the host with sanitizers and on emulated cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.emit import bundle
from mcugen.ir.call import Call
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.kernels.helium import lanes
from mcugen.ops._links import Link
from mcugen.ops.abs import Abs
from mcugen.ops.add import Add
from mcugen.ops.cast import Cast
from mcugen.ops.copy import Copy
from mcugen.ops.element_chain import ElementChain
from mcugen.ops.filter_bank_log import FilterBankLog
from mcugen.ops.float_functions import Exp
from mcugen.ops.hard_swish import HardSwish
from mcugen.ops.integer_line import IntegerLine
from mcugen.ops.leaky_relu import LeakyRelu
from mcugen.ops.lookup import Lookup
from mcugen.ops.maximum import Maximum
from mcugen.ops.mul import Mul
from mcugen.ops.neg import Neg
from mcugen.ops.pcan import Pcan
from mcugen.ops.power_spectrum import PowerSpectrum
from mcugen.ops.spectral_subtraction import SpectralSubtraction
from mcugen.ops.sub import Sub
from mcugen.ops.table_softmax import TableSoftmax
from tests.support import conformance, emulated, program
from tests.support.cases import Sample, cases_of
from tests.support.cores import SAMPLED, portion


class CopyExamples(Copy):
    """The copy that passes make, with examples: no format has it. Source: none."""

    @classmethod
    def examples(cls) -> Sequence[Example]:
        types = [TensorType((3, 5), "s8", QuantParams((0.5,), (-3,))), TensorType((7,), "f32"), TensorType((), "s32")]
        return [Example(cls(), (t,), (t,), {}, k) for k, t in enumerate(types)]


class ChainExamples(ElementChain):
    """The loop that a pass makes, with examples: no format has it. Source: none."""

    kernels = (lanes.CHAIN, *ElementChain.kernels)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        image, number, vector = (TensorType(shape, "f32") for shape in ((1, 3, 5, 4), (), (4,)))
        scaled = (Link(Mul(), (0, 1)), Link(Add("RELU6"), (~0, 2)), Link(Abs(), (~1,)))
        tree = (Link(Sub(), (0, 1)), Link(LeakyRelu(0.2), (0,)), Link(Maximum(), (~0, ~1)), Link(Mul(), (~2, ~2)))
        last = (Link(Neg(), (0,)), Link(Sub("RELU_N1_TO_1"), (1, ~0)), Link(HardSwish(), (~1,)), Link(Exp(), (~2,)))
        return [
            Example(cls(scaled), (image, number, number), (image,), {1: None, 2: None}, 1),
            Example(cls(scaled), (image, number, vector), (image,), {1: None, 2: None}, 2),
            Example(cls(tree), (image, image), (image,), {}, 3),
            Example(cls(last), (image, vector), (image,), {1: None}, 4),
            *cls._of_integers(),
        ]

    @classmethod
    def _of_integers(cls) -> Sequence[Example]:
        """One width of elements, several, and several results with other expressions for odd indices."""
        word, short, byte = (TensorType((3, 5), t) for t in ("s32", "s16", "s8"))
        number = TensorType((), "s32")
        alike = (Link(Mul(), (0, 2)), Link(Sub(), (~0, 1)), Link(Maximum(), (~1, 3)))
        mixed = (Link(Cast("s32"), (0,)), Link(Add(), (~0, 1)), Link(Mul(), (~1, 1)), Link(Cast("s8"), (~2,)))
        channels, gains = TensorType((9,), "u32"), TensorType((125,), "s16")
        noise = SpectralSubtraction((409, 983), (15975, 15401), 10, 14, 819)
        ends = (Link(noise, (0, 1), 2), Link(Pcan(6), (~0, ~1, 2)), Link(FilterBankLog(3, 64), (~2,)))
        line = Link(IntegerLine(806092, -267386880, 21, -128, 127, "s8"), (~3,))
        results = (TensorType((9,), "s8"), channels)
        return [
            Example(cls(alike), (word, word, number, number), (word,), {2: None, 3: None}, 5),
            Example(cls(mixed), (short, number), (byte,), {1: None}, 6),
            Example(cls((*ends, line), (4, 1)), (channels, channels, gains), results, {2: None}, 7),
            *cls._of_vectors(),
        ]

    @classmethod
    def _of_vectors(cls) -> Sequence[Example]:
        """Chains on fours of elements: gains are not negative, and results of each width."""
        channels, gains = TensorType((16,), "u32"), TensorType((125,), "s16")
        table = np.linspace(20, 32000, 125).astype(np.int16)
        table[3::4] = table[4::4] = 40
        noise = Link(SpectralSubtraction((700, 3), (9, 16000), 3, 12, 60000, True), (0, 1), 2)
        gained, log = Link(Pcan(13), (~0, ~1, 2)), Link(FilterBankLog(0, 1000), (~2,))
        line = Link(IntegerLine(-3, 7, 1, -(2**31), 2**31 - 1, "s32"), (~3,))
        return [
            Example(
                cls((noise, gained, log, line), (4, 3, 2, 1)),
                (channels, channels, gains),
                (TensorType((16,), "s32"), TensorType((16,), "s16"), channels, channels),
                {2: table},
                8,
            )
        ]


OPS: dict[str, type[Op]] = {
    **conformance.operators(),
    "Lookup": Lookup,
    "TableSoftmax": TableSoftmax,
    "Copy": CopyExamples,
    "ElementChain": ChainExamples,
}


def report(problems: Sequence[object]) -> str:
    return "\n".join(map(str, problems[:8]))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted(OPS))
def test_kernels_equal_the_oracle(name: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """The first example that each kernel takes; with --whole, all of them."""
    whole = pytestconfig.getoption("--whole")
    result = conformance.check(OPS[name], tmp_path, Sample(first=not whole))
    assert not result.refused, report(result.refused)
    assert not result.problems, report(result.problems)
    examples = len(OPS[name].examples())
    assert result.cases + result.folded >= (examples if whole else min(examples, 1))


@pytest.mark.long
def test_kernels_equal_the_oracle_on_an_emulated_core(
    emulated_core: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """The core's portion of all cases; with --whole, all of them."""
    operators = [OPS[name] for name in sorted(OPS)]
    part = emulated.WHOLE if pytestconfig.getoption("--whole") else portion(emulated_core, operators)
    problems = emulated.check_core(emulated_core, operators, tmp_path, part)
    assert not problems, report(problems)


def test_each_kernel_runs_in_the_sample() -> None:
    """On an emulated core; portable kernels of every second operator on this machine alone, and so are kernels for
    features that no emulated core has, in tests/kernels/test_x86.py.
    """
    operators = [OPS[name] for name in sorted(OPS)]
    emulated_features = frozenset[str]().union(*(target.load(core).features for core in SAMPLED))
    asked = [(target.load(core).features, portion(core, operators)) for core in SAMPLED]
    for place, op in enumerate(operators):
        for kernel in kernels.of(op):
            if (place % 2 == 0 and kernel in op.kernels) or not kernel.needs <= emulated_features:
                continue
            runs = [kernel.needs <= has and part.sample(op).wants(kernel, "tflm") for has, part in asked]
            assert any(runs), f"{op.__name__}: {kernel.symbol}"
    assert all(part.operators is None or part.operators for _, part in asked)


FAULTS = {
    "a wrong element": ("((uint8_t *)out)[0] ^= 1u;", "differ, first at [0"),
    "a write past the end": ("((uint8_t *)out)[p->size] = 1u;", "use-after-poison"),
    "a read past the end": ("((uint8_t *)out)[0] = ((const uint8_t *)in)[p->size];", "use-after-poison"),
    "a read before the start": ("((uint8_t *)out)[0] = ((const uint8_t *)in)[-1];", "use-after-poison"),
    "an output left as it was": ("((uint8_t *)out)[0] ^= GARBAGE;", "differ, first at [0"),
    "overflow": ("((uint8_t *)out)[0] ^= (uint8_t)(((int32_t)p->size + 2147483647) & 1);", "signed integer overflow"),
    "a crash": ("((void (*)(void))0)();", "ended with"),
}


def planted(fault: str, folder: Path) -> Path:
    """The copying kernel with a line added at its end."""
    source = bundle.of([]).text("copy.c").decode()
    body = source[: source.rindex("}")].replace("{\n", "{\n    const uint8_t before = *(const uint8_t *)out;\n", 1)
    path = folder / "copy.c"
    path.write_text(body + f"    (void)before;\n    {fault.replace('GARBAGE', 'before')}\n}}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str, tmp_path: Path) -> None:
    fault, message = FAULTS[name]
    cases, _ = cases_of(CopyExamples)
    group = program.Group("copy", tuple(cases))
    sources = {bundle.of([]).name("copy.c"): planted(fault, tmp_path)}
    found = conformance.run_host(conformance.compile_host(group, tmp_path, kernels=sources), cases)
    assert message in report(found)


def test_strayed_and_unstable_bytes_are_found_without_sanitizers(tmp_path: Path) -> None:
    cases, _ = cases_of(CopyExamples)
    for fault, message in (
        ("((uint8_t *)out)[p->size] ^= 1u;", "bytes of no buffer were written"),
        ("if (p->size == 15u) { ((uint8_t *)out)[14] = ((const uint8_t *)in)[-3]; }", "differ, first at [2, 4]"),
    ):
        sources = {bundle.of([]).name("copy.c"): planted(fault, tmp_path)}
        binary = conformance.compile_host(program.Group("copy", tuple(cases)), tmp_path, ("-O1",), sources)
        assert message in report(conformance.run_host(binary, cases))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (FAULTS["a wrong element"][0], "differ, first at [0"),
        (FAULTS["a crash"][0], "did not reach its end"),
        ("((volatile uint8_t *)out)[1u << 19] = 1u;", "below the top of the stack"),
    ],
    ids=["a wrong element", "a crash", "a write far beyond the arena"],
)
def test_a_planted_fault_is_found_on_an_emulated_core(fault: str, message: str, tmp_path: Path) -> None:
    group = program.Group("copy", tuple(cases_of(CopyExamples)[0]))
    sources = {bundle.of([]).name("copy.c"): planted(fault, tmp_path)}
    assert message in report(emulated.run_groups(target.load("cortex-m55"), [group], tmp_path / "core", sources))


def takes_scalars(call: Call) -> bool:
    "there is one element"
    return call.output.size == 1


class RefusedExamples(CopyExamples):
    """Examples of which the only kernel takes the last one. Source: none."""

    kernels = tuple(replace(kernel, accepts=(takes_scalars,)) for kernel in Copy.kernels)


def test_an_example_without_a_kernel_is_found_on_an_emulated_core(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="RefusedExamples example 0: McugenError: no kernel takes it"):
        emulated.check_core("cortex-m55", [RefusedExamples], tmp_path)


def test_samples_of_cores_are_scaled() -> None:
    """Emulated cores run the first input sets: some of a PowerSpectrum that scales are shifted, others are not."""
    examples = [example for example in PowerSpectrum.examples() if example.op.scales and example.op.shift is None][:1]
    only = type("Scaled", (PowerSpectrum,), {"examples": classmethod(lambda cls: examples)})
    cases, _ = cases_of(only, sets=emulated.SETS, variants=False)
    shifts = [int(outputs[1]) for case in cases for outputs in case.expected["tflm"]]
    assert min(shifts) == 0 and max(shifts) > 8


def test_floats_are_compared_by_the_largest_magnitude() -> None:
    want = np.array([[1000.0, 0.001], [-0.0, 5.0]], np.float32)
    near = want + np.array([[0.0, 0.009], [0.0, 0.0]], np.float32)
    far = want + np.array([[0.0, 0.0], [0.0, 0.011]], np.float32)
    assert program.first_difference(near, want) == ""
    assert "first at [1, 1]" in program.first_difference(far, want)
    assert program.first_difference(far, want, magnitude=1e5) == ""
    assert "first at [0, 0]" in program.first_difference(np.full_like(want, np.nan), want)
    assert "0.0 instead of -0.0" in program.first_difference(np.abs(want), want, exact=True)
    integers = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert "1 of 6 differ, first at [1, 0]: 4 instead of 3" in program.first_difference(
        integers + (integers == 3), integers
    )
