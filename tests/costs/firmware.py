# SPDX-License-Identifier: Apache-2.0
"""Runs many single layers in one firmware on an emulated core and counts what each takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

from mcugen import kernels
from mcugen.boards import target
from mcugen.boards.target import Target
from mcugen.emit import bundle, emit
from mcugen.errors import McugenError
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Example, Op
from mcugen.machines import cycles
from mcugen.machines.toolchain import cross, qemu
from mcugen.machines.toolchain.disassembly import disassemble
from mcugen.machines.toolchain.elf import read_elf
from mcugen.options import Options
from mcugen.solve import fitted, schedule
from mcugen.solve.plan import plan
from mcugen.solve.schedule import Choice
from tests.costs import layers
from tests.support import draw, program
from tests.support.cases import Case, prepared, under_test
from tests.support.conformance import CASE_WARNINGS

REFERENCES = ("tflm", "litert")
Wanted = Callable[[str], bool]
_TIMEOUT_S = 300.0
_PER_UNIT = 40


@dataclass(frozen=True, eq=False)
class Layer:
    """A call of a kernel as a model of its own. step: which of its steps is the call."""

    case: Case
    choice: Choice
    by_rows: bool
    step: int

    @property
    def kernel(self) -> Kernel:
        return self.choice.kernel

    @property
    def call(self) -> Call:
        return self.choice.call


@dataclass(frozen=True, eq=False)
class Measured:
    """Cost of a layer: counted instructions, the model's least and most cycles, and its kernel's bytes of code."""

    layer: Layer
    instructions: int
    cycles_low: int
    cycles_high: int
    code_bytes: int


def layers_of(ops: Iterable[type[Op]], features: frozenset[str], wanted: Wanted, most: int) -> list[Layer]:
    """Layers of each kernel whose symbol is `wanted`: about `most`, or all realistic ones if there are fewer.

    Realistic ones come first; of every four, one runs row by row as well.
    """
    found: list[Layer] = []
    taken: Counter[str] = Counter()
    for op in ops:
        if not any(wanted(kernel.symbol) and kernel.needs <= features for kernel in kernels.of(op)):
            continue
        usual = layers.usual(op)
        for k, example in enumerate(layers.of(op)):
            for j, (kernel, make) in enumerate(_accepting(example, features, wanted)):
                if taken[kernel.symbol] < max(most, usual):
                    taken[kernel.symbol] += 1
                    forms = (False, True) if taken[kernel.symbol] % 4 == 2 else (False,)
                    made = (make(f"{op.__name__.lower()}_{k}_{j}{'r' * by_rows}", by_rows) for by_rows in forms)
                    found += [layer for layer in made if layer is not None]
    return found


def each_kernel(examples: Iterable[Example], features: frozenset[str], wanted: Wanted) -> list[Layer]:
    """The layers on whole tensors, on every wanted kernel that runs them."""
    named = (
        make(f"layer_{k}_{j}", False)
        for k, example in enumerate(examples)
        for j, (_, make) in enumerate(_accepting(example, features, wanted))
    )
    return [layer for layer in named if layer is not None]


Maker = Callable[[str, bool], Layer | None]


def _accepting(example: Example, features: frozenset[str], wanted: Wanted) -> Iterator[tuple[Kernel, Maker]]:
    """The wanted kernels that run an example, each with what makes a layer of a name, whole or by rows.

    That gives None where the kernel cannot.
    """
    try:
        imported, graph = prepared(example)
    except McugenError:
        return
    offered: set[Kernel] = set()
    for node, reference in product(under_test(example, graph)[:1], REFERENCES):
        call = replace(graph.call(node, reference), features=features)
        some = [kernel for kernel in kernels.of(node.op) if kernel.has_code and wanted(kernel.symbol)]
        for kernel in some if node.op.macs(call) <= layers.MAX_MACS else ():
            if kernel not in offered and not kernel.refusals(call, features):
                offered.add(kernel)
                yield kernel, partial(_layer, imported, graph, Choice(node, call, kernel, ""))


def _layer(imported: Graph, graph: Graph, chosen: Choice, name: str, by_rows: bool) -> Layer | None:
    if by_rows and (len(graph.nodes) > 1 or not chosen.can_run_by_rows):
        return None
    reference = chosen.call.reference
    choices = [chosen if node is chosen.node else _first(graph, node, reference) for node in graph.nodes]
    made = schedule.build(graph, choices, [range(1)] if by_rows else (), keep_input=False)
    view, files = emit(made, plan(made.buffers()), imported, Options(reference=reference), name)
    inputs = next(iter(draw.input_sets([imported.type(n) for n in imported.inputs], 0, 1)))[1]
    case = Case(name, name, view, files, (), ("random",), (inputs,), {})
    step = next(s.index for s in made.steps if s.choice.node is chosen.node)
    return Layer(case, chosen, by_rows, step)


def _first(graph: Graph, node: Node, reference: str) -> Choice:
    call = graph.call(node, reference)
    return Choice(node, call, next(k for k in kernels.of(node.op) if not k.refusals(call, frozenset())), "")


def measure(core: str, found: Sequence[Layer], folder: Path) -> list[Measured]:
    """Count every layer on an emulated core, in one image."""
    board = target.load(core)
    folder.mkdir(parents=True, exist_ok=True)
    image = _image(board, found, folder)
    (folder / "input.bin").write_bytes(program.records([layer.case for layer in found]))
    ran = qemu.run_image(image, board, cwd=folder, timeout_s=_TIMEOUT_S)
    model = cycles.load(board.core)
    assert model is not None and len(ran.counts) == 2 * len(found), f"{len(ran.counts)} runs of {len(found)} layers"
    estimator = cycles.Estimator(model, disassemble(image.elf, board))
    sizes = _code_sizes(folder)
    result = []
    for layer, counts in zip(found, ran.counts[::2], strict=True):
        taken = estimator.cycles(counts.runs[layer.step])
        code = sizes[Path(bundle.of([layer.choice]).source(layer.choice.kernel, layer.choice.call)).stem]
        code = round(code / _in_one_source(layer.choice.kernel))
        result.append(Measured(layer, counts.instructions[layer.step], taken.low, taken.high, code))
    return result


def _in_one_source(kernel: Kernel) -> int:
    """Kernels of the source that has this one: they share its bytes, since functions of it share others."""
    if kernel.text.is_generated:
        return 1
    return len(
        {
            k.symbol
            for _, of in fitted.places()
            for k in of
            if not k.text.is_generated and k.source_name == kernel.source_name
        }
    )


def _code_sizes(folder: Path) -> dict[str, int]:
    """Bytes of code and constants of every source compiled there, by its name without extension."""
    return {
        path.stem.partition("_")[2]: read_elf(path).section_bytes(lambda name: name.startswith((".text", ".rodata")))
        for path in folder.glob("*.o")
    }


def _image(board: Target, found: Sequence[Layer], folder: Path) -> cross.Image:
    groups = [
        program.Group(f"part{k}", tuple(layer.case for layer in part))
        for k, part in enumerate(_parts(found, _PER_UNIT))
    ]
    sources = program.write_runtime([layer.case.view for layer in found], folder)
    sources += [program.write_group(group, folder) for group in groups]
    sources += [program.write_table(groups, folder), program.SUPPORT / "harness.c"]
    include = [program.SUPPORT, folder]
    return cross.build_image(board, sources, include, folder, flags=CASE_WARNINGS)


def _parts(found: Sequence[Layer], most: int) -> Iterable[Sequence[Layer]]:
    return (found[at : at + most] for at in range(0, len(found), most))
