"""States as resource variables: read first, assigned last, with initial values set once."""

from __future__ import annotations

from collections.abc import Mapping

from mcugen.errors import UnsupportedError
from mcugen.formats.tflite.write._flatbuffer import Subgraph
from mcugen.formats.tflite.write._subgraph_sink import TfliteSink
from mcugen.ir.graph import Graph, State
from mcugen.ir.types import TensorType

_HANDLE = TensorType((), "resource")


def begin(graph: Graph, network: TfliteSink) -> dict[str, str]:
    """The value of each state at the beginning of a run."""
    return {s.before: network.state(graph.type(s.before), s.initial) for s in graph.states}


def finish(graph: Graph, network: TfliteSink, values: Mapping[str, str]) -> list[Subgraph]:
    """Append operators that read and assign states as resource variables, except states that an operator (such as an
    LSTM) keeps in a variable tensor. Returns the subgraph that sets initial values, if any resource variable exists.

    Raises UnsupportedError if an operator keeps a state whose next value comes from another operator.
    """
    own = {k: s for k, s in enumerate(graph.states) if values[s.before] not in network.kept}
    for s in graph.states:
        before, after = values[s.before], values[s.after]
        if before in network.kept and network.kept[before][0] != after and network.state_at(after) != before:
            raise UnsupportedError(f"an operator keeps {s.before!r}, but its next value comes from another operator")
    if not own:
        return []
    network.operator("CALL_ONCE", [], [], {"init_subgraph_index": 1})
    handles = {k: _handle(network, k) for k in own}
    for k, s in own.items():
        network.append("READ_VARIABLE", [handles[k]], [values[s.before]])
    network.first(1 + 2 * len(own))
    for k, s in own.items():
        network.operator("ASSIGN_VARIABLE", [handles[k], values[s.after]], [])
    return [_first_values(graph, own)]


def _handle(network: TfliteSink, k: int) -> str:
    return network.operator("VAR_HANDLE", [], [_HANDLE], {"container": "", "shared_name": f"state_{k}"})[0]


def _first_values(graph: Graph, states: Mapping[int, State]) -> Subgraph:
    network = TfliteSink()
    for k, s in states.items():
        value = network.constant_of(graph.type(s.before), s.initial)
        network.operator("ASSIGN_VARIABLE", [_handle(network, k), value], [])
    return network.subgraph("first values")
