"""frames: the error of each frame of a sequence, of the worst sequence, and by tenths of time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.types import Shape
from mcugen.samples.labels import Truth
from mcugen.samples.metrics import WHERE, Interface, Metric, Outputs, Scores

PARTS = 10
"""Parts of time whose errors are reported."""


def parts_of(frames: int) -> list[slice]:
    """The frames of each part of time."""
    ends = np.linspace(0, frames, min(PARTS, frames) + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(ends)]


def _shape(network: Interface) -> Shape:
    """The shape of the first output for a sequence: [frames, ...]."""
    first = network.outputs[0]
    return (network.frames, *first.plain) if network.frames else first.plain


def _are_classes(truth: Truth, shape: Shape) -> bool:
    """Whether each frame has one class."""
    return isinstance(truth, np.ndarray) and truth.dtype.kind in "iu" and truth.shape[1:] == shape[:1] != ()


def _are_targets(truth: Truth, shape: Shape) -> bool:
    """Whether each frame has a target for each element of the output."""
    if not isinstance(truth, np.ndarray) or truth.dtype.kind != "f" or truth.ndim < 2:
        return False
    return truth.shape[1:2] == shape[:1] and truth[:1].size == int(np.prod(shape))


def fits(truth: Truth, network: Interface) -> bool:
    """Classes of frames; targets of frames only if samples are sequences."""
    shape = _shape(network)
    return _are_classes(truth, shape) or (network.frames > 0 and _are_targets(truth, shape))


def require(truth: Truth, network: Interface) -> None:
    shape = _shape(network)
    if not (_are_classes(truth, shape) or _are_targets(truth, shape)):
        hint = f"give targets {['n', *shape]}, or a class for each frame: {['n', *shape[:1]]}".replace("'", "")
        raise UsageError("frames needs labels for each frame of a sequence", where=WHERE, hint=hint)
    assert isinstance(truth, np.ndarray)
    count = int(np.prod(shape[1:]))
    if truth.dtype.kind in "iu" and count > 1 and not 0 <= int(truth.min()) <= int(truth.max()) < count:
        what = f"labels are {truth.min()} to {truth.max()}, but the model's classes are 0 to {count - 1}"
        raise UsageError(what, where=WHERE, hint="number the classes as the model does, from 0")


def _errors(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The mean error of each frame, [sequences, frames]: squared, or 1 for a wrong class."""
    found = found.reshape(*truth.shape[:2], -1)
    if truth.dtype.kind == "f":
        wanted = truth.reshape(found.shape)
        return np.asarray(((found.astype(np.float64) - wanted) ** 2).mean(axis=2))
    answers = found.argmax(axis=2) if found.shape[2] > 1 else np.rint(found[..., 0])
    return np.asarray(answers != truth, np.float64)


def score(outputs: Outputs, truth: Truth, network: Interface) -> Scores:
    assert isinstance(truth, np.ndarray)
    errors = _errors(outputs[0], truth)
    tenths = tuple(float(errors[:, part].mean()) for part in parts_of(errors.shape[1]))
    return {"frames": float(errors.mean()), "worst_sequence": float(errors.mean(axis=1).max()), "tenths": tenths}


METRIC = Metric(
    "frames",
    fits,
    require,
    score,
    {
        "frames": "error per frame",
        "worst_sequence": "error of the worst sequence",
        "tenths": "error by tenths of time",
    },
)
