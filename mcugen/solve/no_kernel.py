"""Error text for nodes that no kernel can run: what is unusual about their types, then the kernels that nearly fit."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.boards.target import Target
from mcugen.ir.call import Call
from mcugen.ir.graph import Node
from mcugen.ir.kernel import Kernel
from mcugen.ir.types import TensorType

_FINE, _COARSE = 1e-9, 1e9
_NEAREST = 3
_NODES = 4
_MOST_AXES = 4


def of_nodes(problems: Sequence[str]) -> str:
    """Text of an error in at most 12 lines: the first node in full, one line for each of the others."""
    first, *rest = problems
    lines = [first, *(text.partition("\n")[0] for text in rest[: _NODES - 1])]
    if len(rest) >= _NODES:
        lines.append(f"  and {len(rest) - _NODES + 1} more")
    return "\n".join(lines)


def of_node(node: Node, call: Call, known: Sequence[Kernel], target: Target) -> str:
    """Error text of a node: its types, what is unusual about them, and at most three kernels with the rules that the
    node breaks.
    """
    types = ", ".join("-" if t is None else str(t) for t in call.inputs)
    lines = [f"  {node.source}: {node.op} on ({types}) -> {call.output}"]
    if found := _unusual(call):
        lines.append(f"    unusual: {'; '.join(found)}")
    broken = [(k.refusals(call, target.features), k) for k in known]
    nearest = sorted(broken, key=lambda pair: len(pair[0]))[:_NEAREST]
    lines += [f"    {k.symbol} needs: {'; '.join(reasons)}" for reasons, k in nearest]
    if len(known) > _NEAREST:
        lines.append(f"    {len(known) - _NEAREST} more kernels: `mcugen ops {type(node.op).__name__}`")
    return "\n".join(lines)


def _unusual(call: Call) -> list[str]:
    """Texts for operands and results with implausible scales or more than four axes."""
    named = [(f"operand {k}", t) for k, t in enumerate(call.inputs) if t is not None]
    return [text for name, t in (*named, ("the result", call.output)) for text in _of_type(name, t)]


def _of_type(name: str, t: TensorType) -> list[str]:
    scales = () if t.quant is None else t.quant.scale
    far = [s for s in scales if not _FINE <= s <= _COARSE]
    found = [f"{name} has a scale of {far[0]:.3g}"] if far else []
    return [*found, f"{name} has {len(t.shape)} axes"] if len(t.shape) > _MOST_AXES else found
