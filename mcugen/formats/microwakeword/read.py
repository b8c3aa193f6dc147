"""microWakeWord: ESPHome's description of a wake word, versions 1 and 2, becomes a model from microphone to detection.

The .json names a .tflite file beside it, the steps between features, and when probabilities make a detection. Samples
go through the front end that the network was trained with: version 1 has the tables of audio_preprocessor_int8, version
2 those of the microfrontend library. Source: esphome.io/components/micro_wake_word, and its component in ESPHome.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from mcugen.errors import CorruptModelError, UnsupportedError, UsageError
from mcugen.formats import chain, read
from mcugen.formats.registry import Registry
from mcugen.ir.graph import Graph, Node, SampleStream, State, Tensor
from mcugen.ir.streams import DECIDES
from mcugen.ir.types import Shape, TensorType
from mcugen.ops.detect import Detect
from mcugen.samples import microfrontend

REFERENCES = ("tflm", "litert")
LAYOUT = "nhwc"
_HINT = "compare it with esphome.io/components/micro_wake_word"
UNLIKE = ("the description of a wake word (it has no 'micro')", _HINT)
_MOST_RECENT = 1000
_HOLD = {1: 74, 2: 100}
"""Version -> number of rows that cannot be a detection, after the start and after each detection."""
_STEP = 20
"""Milliseconds between rows in version 1, which does not state them."""


@dataclass(frozen=True)
class WakeWord:
    """A description of a wake word.

    model: path of the network, relative to the description; step: milliseconds between rows of features
    recent: number of probabilities that are summed; limit: greatest sum that does not count as a detection
    arena: bytes that ESPHome reserves for the network; 0 if the description does not state them
    """

    version: int
    model: str
    step: int
    recent: int
    limit: int
    arena: int = 0


def recognises(data: bytes) -> bool:
    """Whether a file describes a wake word."""
    return data[:4096].lstrip().startswith(b"{") and b'"micro"' in data and b'"learner"' not in data


def load(data: bytes, registry: Registry, *, path: Path, sha256: str, shapes: Mapping[str, Shape]) -> Graph:
    """The model that computes a probability and a detection from 16-bit samples.

    Raises UsageError, CorruptModelError and UnsupportedError for an invalid description, and for a network that does
    not read these features.
    """
    if shapes:
        hint = "leave the option out: the front end decides the shapes"
        raise UsageError("the shapes of a wake word are fixed", where="--input-shape", hint=hint)
    word = described(data)
    file = path.parent / word.model
    if not file.resolve().is_relative_to(path.parent.resolve()):
        raise _bad(f"`model`, {word.model!r}, lies outside the folder of the description")
    if not file.is_file():
        raise UsageError(f"the network {word.model!r} is not in the folder of the description", hint="copy it there")
    network = read.load(file, registry)
    _require_features(network)
    rows = network.type(network.inputs[0]).size // microfrontend.CHANNELS
    hop = word.step * microfrontend.RATE // 1000
    tables = microfrontend.operators() if word.version == 1 else microfrontend.library()
    front = microfrontend.graph(tables, hop, network.format)
    joined = chain.joined(chain.renamed(front, "front_"), network)
    found = _detecting(joined, word, rows)
    notes = (f"ESPHome reserves {word.arena:,} bytes for the network alone",) if word.arena else ()
    stream = SampleStream(hop, rows, microfrontend.RATE)
    return replace(found, stream=stream, format="microwakeword", sha256=sha256, notes=(*found.notes, *notes))


def described(data: bytes) -> WakeWord:
    """The checked values of a description. Raises CorruptModelError and UnsupportedError."""
    try:
        value = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _bad(f"it is not JSON: {error}") from error
    if not isinstance(value, dict) or not isinstance(value.get("micro"), dict):
        raise _bad("it is not a description of a wake word: `micro` is missing")
    version, micro = value.get("version"), value["micro"]
    if version not in _HOLD or isinstance(version, bool):
        hint = "mcugen reads versions 1 and 2"
        raise UnsupportedError(f"version {version!r} of the description is not supported", hint=hint)
    model, size = value.get("model"), "sliding_window_size" if version == 2 else "sliding_window_average_size"
    if not isinstance(model, str) or not model or "\0" in model or "://" in model or PurePosixPath(model).is_absolute():
        raise _bad(f"`model` must be the path of a .tflite file beside it, not {model!r}")
    cutoff = micro.get("probability_cutoff")
    if isinstance(cutoff, bool) or not isinstance(cutoff, int | float) or not 0 <= cutoff <= 1:
        raise _bad(f"`probability_cutoff` must be a number from 0 to 1, not {cutoff!r}")
    recent = _whole(micro, size, _MOST_RECENT)
    longest = 1000 * microfrontend.WINDOW // microfrontend.RATE
    step = _whole(micro, "feature_step_size", longest) if version == 2 else _STEP
    arena = _whole(micro, "tensor_arena_size", 1 << 30) if "tensor_arena_size" in micro else 0
    return WakeWord(version, model, step, recent, _limit(version, float(cutoff), recent), arena)


def _whole(micro: Mapping[str, Any], name: str, most: int) -> int:
    """A whole number from 1 to `most`. Raises CorruptModelError."""
    value = micro.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise _bad(f"`{name}` must be a whole number from 1 to {most}, not {value!r}")
    return value


def _limit(version: int, cutoff: float, recent: int) -> int:
    """The greatest sum of probabilities that does not count as a detection.

    Version 2 compares integers. Version 1 compares the mean with the cutoff, both in float32.
    """
    if version == 2:
        return math.floor(cutoff * 255) * recent
    f = np.float32
    sums = np.arange(255 * recent + 1)
    return int(np.flatnonzero(f(sums) / f(255 * recent) <= f(cutoff)).max(initial=0))


def _require_features(network: Graph) -> None:
    """Raise UnsupportedError unless a network takes rows of features, and gives a probability as uint8."""
    microfrontend.require_features(network)
    hint = "give the network that the description was made for"
    if len(network.outputs) != 1:
        raise UnsupportedError(f"the network has {len(network.outputs)} outputs, not one probability", hint=hint)
    y = network.tensors[network.outputs[0]]
    if y.type.dtype != "u8" or y.type.size != 1:
        message = f"the network's output {y.label!r} is {y.type}, but a probability is u8 [1, 1]"
        raise UnsupportedError(message, hint=hint)


def _detecting(graph: Graph, word: WakeWord, rows: int) -> Graph:
    """The graph with a second output: whether the wake word is detected."""
    recent, number, found = TensorType((word.recent,), "u8"), TensorType((), "s32"), TensorType((1,), "bool")
    types = {"recent": recent, "wait": number, "detected": found, "next_recent": recent, "next_wait": number}
    tensors = {name: Tensor(name, t, label=name.replace("_", " ")) for name, t in types.items()}
    hold = _HOLD[word.version]
    inputs, outputs = (graph.outputs[0], "recent", "wait"), ("detected", "next_recent", "next_wait")
    node = Node("detect", Detect(word.limit, hold, rows), inputs, outputs, f"{DECIDES}the description")
    states = (
        State("recent", "next_recent", np.zeros(recent.shape, np.uint8)),
        State("wait", "next_wait", np.array(-hold, np.int32)),
    )
    return replace(
        graph,
        tensors={**graph.tensors, **tensors},
        nodes=(*graph.nodes, node),
        outputs=(*graph.outputs, "detected"),
        states=(*graph.states, *states),
    )


def _bad(message: str) -> CorruptModelError:
    return CorruptModelError(message, hint=_HINT)
