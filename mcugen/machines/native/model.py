"""A loaded model: its C runs in this process."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Mapping, Sequence

import numpy as np

from mcugen.emit.view import ModelView
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.machines.native import library
from mcugen.machines.native.ends import Argument, as_element, ends_of, room, shaped, taken, together

_ALIGN = 64
Outputs = np.ndarray | tuple[np.ndarray, ...]
"""The output of a model; a tuple if there are several."""


class Model:
    """The generated C of a model on this computer. Each object owns its memory, so objects can run in parallel threads.

    inputs, outputs: the model's inputs and outputs, in order
    has_states: whether a run depends on earlier runs
    takes_signals: whether it takes a stream of samples
    """

    def __init__(self, name: str, files: Mapping[str, bytes], view: ModelView, graph: Graph) -> None:
        """files: the C. graph: the graph as imported. Raises ToolError if gcc is missing or fails."""
        self.name = name
        self.inputs, self.outputs = ends_of(graph, view)
        self.has_states = bool(view.states)
        self._push, self._streams, self._samples = view.push, view.streams, view.samples
        self.takes_signals = view.samples is not None
        self._library = library.load(files, view)
        size = int(self._library.mcugen_size())
        self._memory = np.zeros(size + _ALIGN, np.uint8)
        self._at = -(-self._memory.ctypes.data // _ALIGN) * _ALIGN
        self._lock = threading.Lock()
        self._library.mcugen_start(self._at)
        if view.bands > 1:
            weakref.finalize(self, _stopped, self._library, self._at, self._memory)

    def __repr__(self) -> str:
        """A line with the inputs and outputs."""
        ends = (", ".join(f"{e.dtype} {list(e.shape)}" for e in ends) for ends in (self.inputs, self.outputs))
        return f"<Model {self.name}: {' -> '.join(ends)}>"

    def __reduce__(self) -> str:
        raise UsageError(
            "a loaded model cannot be sent to another process",
            hint="call mcugen.load in that process: it reuses the library",
        )

    def run(self, *inputs: object, real: bool | None = None) -> Outputs:
        """The outputs for one sample, or for many samples along a first axis, in one call.

        inputs: an array per input of the model, in order, or one dict by input name. Floats for a quantized input are
        quantized like NAME_input_quantize does; integers are taken as stored values. real: whether quantized outputs
        are returned as real numbers; by default they are if the inputs were floats. A model with states continues from
        its current state, from sample to sample; `reset` restores the initial state. A model fed by frames takes each
        sample as a whole window.

        A model that takes a stream of samples gets signals, [time] or [n, time], each after a reset, and gives the
        outputs of every decision, [decisions, ...] or [n, decisions, ...]. Raises UsageError for inputs that do not
        fit.
        """
        if self._samples is not None:
            return self._run_signals(self._ordered(inputs)[0], real)
        given = [taken(end, value) for end, value in zip(self.inputs, self._ordered(inputs), strict=True)]
        count = together(given, self.inputs)
        as_real = _is_real(given) if real is None else real
        n = 1 if count is None else count
        found = [room(end, n, real=as_real) for end in self.outputs]
        flags = np.array([item.real for item in given] or [False], np.uint8)
        with self._lock:
            self._library.mcugen_run(
                self._at, n, _pointers([item.array for item in given]), flags.ctypes.data, _pointers(found), as_real
            )
        return _one_or_all([shaped(a, count, stacked=any(item.stacked for item in given)) for a in found])

    def _run_signals(self, signals: object, real: bool | None) -> Outputs:
        """The outputs of all decisions of each signal; see `run`. Raises UsageError."""
        given, stream = np.asarray(signals), self._samples
        if stream is None or given.ndim not in (1, 2) or not len(given):
            hint = "give [time], or [n, time] for n signals, at least one"
            raise UsageError(f"an array of shape {list(given.shape)} is not a signal", where=self.name, hint=hint)
        if given.shape[-1] < stream.first:
            hint = "give longer signals, or fill them up: length=... in --preprocess"
            message = f"{given.shape[-1]:,} samples end before the first decision, after {stream.first:,}"
            raise UsageError(message, where=self.name, hint=hint)
        found = [self._decisions(signal, real) for signal in np.atleast_2d(given)]
        outputs = [np.stack(column) for column in zip(*found, strict=True)]
        return _one_or_all(outputs if given.ndim == 2 else [a[0] for a in outputs])

    def _decisions(self, signal: np.ndarray, real: bool | None) -> list[np.ndarray]:
        """Each output, for all decisions of a signal: [decisions, ...]."""
        assert self._samples is not None
        self.reset()
        first, between = self._samples.first, self._samples.stride * self._samples.hop
        ends = range(first, signal.size + 1, between)
        pieces = np.split(signal[: ends[-1]], ends[:-1])
        newest = [self.push_samples(piece, real=real)[1] for piece in pieces]
        found = [all_of(outputs) for outputs in newest if outputs is not None]
        return [np.stack(column) for column in zip(*found, strict=True)]

    def stored(self, *inputs: object) -> tuple[np.ndarray, ...]:
        """The inputs as the C stores them: `inputs` as for `run`, with floats quantized."""
        if self._samples is not None:
            return (self._quantized(*as_element(self.inputs[0], np.asarray(self._ordered(inputs)[0]))),)
        given = [taken(end, value) for end, value in zip(self.inputs, self._ordered(inputs), strict=True)]
        found = [np.empty(item.array.shape, end.dtype) for end, item in zip(self.inputs, given, strict=True)]
        for k, (array, item) in enumerate(zip(found, given, strict=True)):
            self._library.mcugen_stored(k, array.ctypes.data, item.array.ctypes.data, array.size, item.real)
        return tuple(found)

    def push_row(self, row: object, *, real: bool | None = None) -> Outputs | None:
        """Push the next row of an image. Returns the outputs after the last row, otherwise None. For
        input_mode="rows".
        """
        return self._pushed(row, real, "rows")

    def push_frame(self, frame: object, *, real: bool | None = None) -> Outputs | None:
        """Push the newest frame. Returns the outputs of the window that ends with it; None until the first window is
        full.

        For input_mode="frames".
        """
        return self._pushed(frame, real, "frames")

    def push_samples(self, samples: object, *, real: bool | None = None) -> tuple[int, Outputs | None]:
        """Push any number of samples. Returns how many decisions are new, and the outputs of the newest; None if none
        is.

        For input_mode="samples".
        """
        if self._samples is None:
            hint = 'load it with input_mode="samples"'
            raise UsageError(f"{self.name} does not take samples", hint=hint)
        values, quantizes = as_element(self.inputs[0], np.asarray(samples).reshape(-1))
        values = self._quantized(values, quantizes)
        as_real = quantizes or not self.inputs[0].is_quantized if real is None else real
        found = [room(e, 1, real=as_real) for e in self.outputs]
        with self._lock:
            new = int(self._library.mcugen_push_samples(self._at, values.ctypes.data, values.size))
            if not new:
                return 0, None
            self._library.mcugen_outputs(self._at, 0, _pointers(found), as_real)
        return new, _one_or_all([a[0] for a in found])

    def _quantized(self, values: np.ndarray, real: bool) -> np.ndarray:
        """Samples as the C stores them."""
        values, end = np.ascontiguousarray(values), self.inputs[0]
        stored = np.empty(values.shape, end.dtype)
        self._library.mcugen_stored(0, stored.ctypes.data, values.ctypes.data, values.size, real)
        return stored

    def reset(self) -> None:
        """Restore the initial states, and forget pushed rows, frames and samples."""
        with self._lock:
            self._library.mcugen_reset(self._at)

    def _ordered(self, inputs: Sequence[object]) -> Sequence[object]:
        """The arguments in the order of the inputs. Raises UsageError for wrong names or a wrong number of them."""
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            named = dict(inputs[0])
            names = [end.name for end in self.inputs]
            if sorted(named) != sorted(names):
                listed = ", ".join(map(repr, names))
                raise UsageError(f"the inputs are {listed}", hint="give an array for each of these names")
            return [named[name] for name in names]
        if len(inputs) != len(self.inputs):
            listed = "; ".join(map(str, self.inputs)) or "none"
            raise UsageError(f"{len(inputs)} inputs given, the model has {len(self.inputs)}", hint=f"inputs: {listed}")
        return inputs

    def _pushed(self, row: object, real: bool | None, mode: str) -> Outputs | None:
        push = self._push
        if push is None or self._streams != (mode == "frames"):
            hint = f'load it with input_mode="{mode}"'
            raise UsageError(f"{self.name} does not take {mode}", hint=hint)
        end, array = self.inputs[push.input], np.asarray(row)
        if array.size != push.row_length:
            shape = list(end.shape[2:]) if len(end.shape) == 4 else [push.row_length]
            message = f"an array of shape {list(array.shape)} does not fit the {mode} of this input"
            raise UsageError(message, where=end.name, hint=f"give {push.row_length} elements, {shape}")
        values, quantizes = as_element(end, array)
        values = np.ascontiguousarray(values)
        as_real = quantizes or not end.is_quantized if real is None else real
        found = [room(e, 1, real=as_real) for e in self.outputs]
        with self._lock:
            if not self._library.mcugen_push(self._at, values.ctypes.data, quantizes):
                return None
            self._library.mcugen_outputs(self._at, 0, _pointers(found), as_real)
        return _one_or_all([a[0] for a in found])


def _is_real(given: Sequence[Argument]) -> bool:
    """Whether outputs are returned as real numbers: yes, unless stored integers were given."""
    return not any(item.stored for item in given)


def _stopped(library: ctypes.CDLL, at: int, memory: np.ndarray) -> None:
    """End the threads of an object, and then give its memory back."""
    library.mcugen_stop(at)
    del memory


def _pointers(arrays: Sequence[np.ndarray]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))


def _one_or_all(arrays: list[np.ndarray]) -> Outputs:
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def all_of(found: Outputs) -> tuple[np.ndarray, ...]:
    """The outputs of a model as a tuple, even if there is only one."""
    return found if isinstance(found, tuple) else (found,)
