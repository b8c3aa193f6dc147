"""Tensors that can be stored inside a joined tensor with gaps between their vectors along the last axis.

Such vectors are called runs. All kernels that read or write the tensor must support gaps between runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from mcugen import kernels
from mcugen.ir.graph import Graph, Node
from mcugen.ir.kernel import RESULT, Grid


class Runs:
    """The tensors that a device's kernels can read and write as separate runs.

    joined: results of joins whose operands already lie inside them.
    """

    def __init__(self, graph: Graph, reference: str, features: frozenset[str]) -> None:
        self._graph, self._reference, self._features = graph, reference, features
        self.joined: set[str] = set()

    def may_hold(self, name: str, join: Node) -> bool:
        """Whether the producer of a tensor can write it as separate runs, and all readers except the join can read it
        so.
        """
        graph = self._graph
        if name in graph.kept or name not in self._makers or list(join.inputs).count(name) > 1:
            return False
        readers = [node for node in self._readers.get(name, ()) if node is not join]
        is_run = name in self.joined or self._all(self._makers[name], lambda _, k: RESULT if k is None else None)
        return is_run and all(self._all(node, lambda given, k: k if given == name else None) for node in readers)

    def _all(self, node: Node, which: Callable[[str | None, int | None], int | None]) -> bool:
        """Whether every kernel that may run a node supports separate runs for the operands and the result that `which`
        selects.
        """
        call = self._graph.call(node, self._reference)
        fitting = [k for k in kernels.on_device(type(node.op)) if not k.refusals(call, self._features)]
        asked = {which(given, k) for k, given in enumerate(node.inputs)} | {which(None, None)}
        return bool(fitting) and all(
            isinstance(kernel.form, Grid) and all(kernel.form.takes_runs(call, k) for k in asked if k is not None)
            for kernel in fitting
        )

    @cached_property
    def _makers(self) -> dict[str, Node]:
        """The nodes with one result."""
        return {node.outputs[0]: node for node in self._graph.nodes if len(node.outputs) == 1}

    @cached_property
    def _readers(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self._graph.nodes:
            for name in dict.fromkeys(n for n in node.inputs if n is not None):
                found.setdefault(name, []).append(node)
        return found
