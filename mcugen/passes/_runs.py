"""Tensors that can be stored as separate runs inside a joined tensor, because all kernels that use them support it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from mcugen import kernels
from mcugen.ir.graph import Graph, Node
from mcugen.ir.kernel import RESULT, Grid


class Runs:
    """The tensors that a device's kernels can read and write in runs.

    joined: the results of joins whose operands lie in them already.
    """

    def __init__(self, graph: Graph, reference: str, features: frozenset[str]) -> None:
        self._graph, self._reference, self._features = graph, reference, features
        self.joined: set[str] = set()

    def may_hold(self, name: str, join: Node) -> bool:
        """Whether the maker of a tensor may write it in runs, and all its readers beside the join read it so."""
        graph = self._graph
        if name in graph.kept or name not in self._makers or list(join.inputs).count(name) > 1:
            return False
        readers = [node for node in self._readers.get(name, ()) if node is not join]
        is_run = name in self.joined or self._all(self._makers[name], lambda _, k: RESULT if k is None else None)
        return is_run and all(self._all(node, lambda given, k: k if given == name else None) for node in readers)

    def _all(self, node: Node, which: Callable[[str | None, int | None], int | None]) -> bool:
        """Whether every kernel that may run a node supports runs for the operands or the result selected by `which`."""
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
