"""Fuses the operators from samples to the energies of their spectrum: window, scaling, Fourier transform, energies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from mcugen import kernels
from mcugen.ir.graph import Graph, Node
from mcugen.ops.fft_auto_scale import FftAutoScale
from mcugen.ops.power_spectrum import PowerSpectrum
from mcugen.ops.real_fourier import RealFourier
from mcugen.ops.reshape import Reshape
from mcugen.ops.signal_energy import SignalEnergy
from mcugen.ops.signal_window import SignalWindow

_WHY = "one step goes from samples to energies, in the memory of the energies"


def fuse_spectra(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a target with these features. It changes nothing for devices, which have no such kernels."""

    def fuse(graph: Graph, reference: str) -> Graph:
        return graph if features & kernels.device_features() else _Fusion(graph).graph()

    fuse.__name__ = fuse_spectra.__name__
    return fuse


class _Fusion:
    """The pass over the nodes: each SignalEnergy is fused with the nodes before it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._makers = {name: node for node in graph.nodes for name in node.outputs}
        self._reads = Counter(name for node in graph.nodes for name in node.inputs if name is not None)
        self._reads.update(graph.kept)

    def graph(self) -> Graph:
        chains = [chain for node in self._graph.nodes for chain in [self._chain(node)] if chain is not None]
        if not chains:
            return self._graph
        fused = {chain[0].name: self._fused(chain) for chain in chains}
        gone = {node.name for chain in chains for node in chain}
        kept = (fused.get(node.name, node) for node in self._graph.nodes if node.name in fused or node.name not in gone)
        inner = [name for chain in chains for node in chain[:-1] for name in node.outputs[:1]]
        removed = self._graph.removals(inner, "fused spectra", _WHY)
        return self._graph.updated(nodes=tuple(kept), removed=removed)

    def _chain(self, last: Node) -> list[Node] | None:
        """The nodes to fuse, in order; None if `last` is not the SignalEnergy of an int16 transform."""
        chain = [last]
        if not isinstance(last.op, SignalEnergy) or last.op.start == last.op.end:
            return None
        self._extend(chain, RealFourier)
        transform = chain[0].op
        if not isinstance(transform, RealFourier) or transform.inverse:
            return None
        self._extend(chain, FftAutoScale)
        if self._extend(chain, SignalWindow) and not self._is_constant_window(chain[0]):
            del chain[: 1 + isinstance(chain[1].op, Reshape)]
        return chain

    def _extend(self, chain: list[Node], kind: type) -> bool:
        """Put the node of this kind that computes the chain's operand, and a reshape between, in front of the chain.

        Returns False, without a change, if there is no such node or another node reads a result in between.
        """
        found: list[Node] = []
        for _ in range(2):
            name = str((found or chain)[0].inputs[0])
            maker = self._makers.get(name)
            if maker is None or self._reads[name] != 1:
                return False
            found.insert(0, maker)
            if isinstance(maker.op, kind):
                chain[:0] = found
                return True
            if not isinstance(maker.op, Reshape):
                return False
        return False

    def _is_constant_window(self, node: Node) -> bool:
        """Whether the window is constant and has one factor for each sample."""
        samples, window = (self._graph.tensors[str(name)] for name in node.inputs[:2])
        return window.is_constant and window.type.size == samples.type.size

    def _fused(self, chain: list[Node]) -> Node:
        ops = {type(node.op): node for node in chain}
        first, last = chain[0], chain[-1]
        window, scaling = ops.get(SignalWindow), ops.get(FftAutoScale)
        transform, energy = ops[RealFourier].op, ops[SignalEnergy].op
        assert isinstance(transform, RealFourier) and isinstance(energy, SignalEnergy)
        shift = window.op.shift if window and isinstance(window.op, SignalWindow) else None
        least = bool(scaling and isinstance(scaling.op, FftAutoScale) and scaling.op.ignores_least)
        op = PowerSpectrum(transform.length, energy.start, energy.end, shift, scaling is not None, least)
        inputs = first.inputs if window else first.inputs[:1]
        outputs = last.outputs + (scaling.outputs[1:] if scaling else ())
        return replace(last, op=op, inputs=inputs, outputs=outputs)
