"""Sequences of frames through the C of a model that computes one frame at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.machines.native import Model, all_of
from mcugen.quantize import frame_sequences
from mcugen.quantize.frame_sequences import States
from mcugen.samples import Samples
from mcugen.samples.metrics import Interface
from mcugen.verify.cases import Case


@dataclass(frozen=True)
class Streamed:
    """A model that is run over sequences. states: those that the caller hands from frame to frame."""

    states: States

    def load(self, path: Path, graph: Graph, limit: int | None) -> Samples:
        """The sequences of a file, with labels. Raises UsageError."""
        return frame_sequences.load(path, graph, self.states, limit=limit, with_labels=True, to_run=True)

    def interface(self, graph: Graph, found: Samples) -> Interface:
        """The interface of the model, for metrics."""
        return frame_sequences.interface_of(graph, self.states, found)

    def run(self, model: Model, sequences: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The outputs that are no states, as real numbers, [sequences, frames, *shape] each."""
        shown = self._shown(model)
        at_once = [slice(None)] if not model.has_states else [slice(k, k + 1) for k in range(len(sequences[0]))]
        parts = []
        for which in at_once:
            model.reset()
            frames = [outputs for _, outputs in self._frames(model, [a[which] for a in sequences])]
            parts.append([np.stack([frame[k] for frame in frames], axis=1) for k in shown])
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return tuple(model.outputs[k].real(column) for k, column in zip(shown, columns, strict=True))

    def cases(self, model: Model, sequences: Sequence[np.ndarray], count: int) -> list[Case]:
        """The first frames of the first sequence: a case each, or the runs of one case if the model has states."""
        model.reset()
        frames = self._frames(model, [a[:1, :count] for a in sequences])
        inputs = []
        for given, _ in frames:
            stored = model.stored(*_flat(model, given))
            inputs.append([a.reshape(end.shape) for a, end in zip(stored, model.inputs, strict=True)])
        if model.has_states:
            return [Case(f"frames 0 to {len(inputs) - 1}", inputs[0], tuple(inputs[1:]))]
        return [Case(f"frame {k}", given) for k, given in enumerate(inputs)]

    def _shown(self, model: Model) -> list[int]:
        held = {k for k, _ in self.states.pairs}
        return [k for k in range(len(model.outputs)) if k not in held] or list(range(len(model.outputs)))

    def _frames(self, model: Model, sequences: Sequence[np.ndarray]) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
        """Inputs and stored outputs of each frame, [sequences, *shape] each. States begin as zeros."""
        count, length = sequences[0].shape[:2]
        now = [np.full((count, *end.shape), end.zero_point, end.dtype) for end in model.inputs]
        held = {k for _, k in self.states.pairs}
        driven, found = [k for k in range(len(now)) if k not in held], []
        for frame in range(length):
            for k, array in zip(driven, sequences, strict=True):
                now[k] = array[:, frame]
            given = all_of(model.run(*_flat(model, now), real=False))
            outputs = [a.reshape(count, *end.shape) for a, end in zip(given, model.outputs, strict=True)]
            found.append(([*now], outputs))
            for after, before in self.states.pairs:
                now[before] = outputs[after]
        return found


def of(data: Path, graph: Graph, texts: Sequence[str]) -> Streamed | None:
    """How a model runs over sequences; None if samples are single runs.

    texts: its states, as OUTPUT=INPUT. A model that keeps states itself takes sequences if the data have an axis more
    than its input. Raises UsageError.
    """
    if texts:
        return Streamed(frame_sequences.states_of(graph, texts))
    if graph.states and graph.stream is None and frame_sequences.holds_sequences(data, graph):
        return Streamed(States(()))
    return None


def _flat(model: Model, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Inputs [n, *shape] without the first axis of the shape, if all inputs have one of 1."""
    flat = all(end.shape[:1] == (1,) for end in model.inputs)
    return [a.reshape(len(a), *a.shape[2:]) if flat else a for a in arrays]
