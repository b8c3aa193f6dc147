"""The identity of features: a hash of the words that make them, of the tables and of the arithmetic."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.op import Op
from mcugen.ir.types import Shape, TensorType
from mcugen.samples import preprocess
from mcugen.samples.column import Column
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import IMAGE, MOTION, SOUND, Plan, StepError

KEY = "mcugen_features"
"""The key of an .npz that holds the identity of its features, as the bytes of JSON."""
ARITHMETIC = "float32, mcugen 1"
"""The order of operations, as a name. Its number changes when bits change."""
_PROBES = (1 << 15, 1 << 19)
"""Lengths of the sounds and motions for which tables are hashed: the first that the words take."""
_CHANNELS = (6, 8, 9)
"""Numbers of channels of the motions for which tables are hashed: the first that the words take."""
_SIDE = 1024
MAX_BYTES = 1 << 16


@dataclass(frozen=True)
class Identity:
    """words: as given, without spaces. rate: Hz after resampling, 0 if not for sounds. sha256: of words, rate, tables
    and arithmetic.
    """

    words: str
    rate: int
    sha256: str
    arithmetic: str = ARITHMETIC
    classes: tuple[str, ...] = ()

    @property
    def stored(self) -> np.ndarray:
        """The array for an .npz."""
        return np.frombuffer(json.dumps(asdict(self)).encode(), np.uint8)


def of(plan: Plan, rate: float = 0) -> Identity:
    """The identity of the features that words make of sounds or motions of this rate, or of images or numbers.

    rate: of the sensor or the file, in Hz. The word `rate` replaces it.
    """
    return _of(plan, round(plan.rate or rate) if plan.kind in (SOUND, MOTION) else 0)


@functools.lru_cache(8)
def _of(plan: Plan, rate: int) -> Identity:
    text = ",".join(step.text.replace(" ", "") for step in plan.steps)
    found = hashlib.sha256(f"{ARITHMETIC}\n{text}\n{rate}\n".encode())
    for part in _tables(plan, rate):
        found.update(part)
    return Identity(text, rate, found.hexdigest())


def _tables(plan: Plan, rate: int) -> Sequence[bytes]:
    """The operators and tables of words on a sound, a motion or an image, in order; none if the words take none.

    Words for numbers are left out for motion, since the number of features depends on the channels.
    """
    steps = plan.of(MOTION) if plan.kind == MOTION else plan.steps
    for shape in _probes(plan):
        front = FrontEnd(TensorType(shape, "u8" if plan.kind == IMAGE else "f32"), rate, len(shape) - 1)
        try:
            graph = front.graph(preprocess.appended(front, front.given, steps))
        except StepError:
            continue
        constants = [t.data.tobytes() for t in graph.tensors.values() if t.data is not None]
        return [*(stated(node.op).encode() for node in graph.nodes), *constants]
    return ()


def stated(op: Op) -> str:
    """The operator with those attributes that differ from their defaults.

    An operator that gets another attribute states the same if the default keeps its meaning.
    """
    known = fields(op) if is_dataclass(op) else ()
    given = [f"{f.name}={getattr(op, f.name)!r}" for f in known if getattr(op, f.name) != f.default]
    return f"{type(op).__name__}({', '.join(given)})"


def _probes(plan: Plan) -> Sequence[Shape]:
    """The shapes of samples for which tables are hashed."""
    if plan.kind == MOTION:
        return [(1, n, channels) for channels in _CHANNELS for n in _PROBES]
    if plan.kind == SOUND:
        return [(1, n) for n in _PROBES]
    return [(1, *(plan.frame or (_SIDE, _SIDE, 3)))] if plan.kind == IMAGE else []


def taken(found: dict[str, Column], where: str) -> Identity | None:
    """The identity among the arrays of an .npz, which it is taken out of; None if there is none. Raises UsageError."""
    column = found.pop(KEY, None)
    if column is None:
        return None
    try:
        if column.count > MAX_BYTES or column.shape:
            raise ValueError("is too long")
        values: Mapping[str, object] = json.loads(np.concatenate([*column.blocks(column.count)]).tobytes())
        words, rate, sha256 = values["words"], values["rate"], values["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"{KEY!r} does not say what made the features: {error}"
        raise UsageError(message, where=where, hint="write the file anew with mcugen features") from error
    if not (isinstance(words, str) and isinstance(rate, int) and isinstance(sha256, str)):
        hint = "write the file anew with mcugen features"
        raise UsageError(f"{KEY!r} does not say what made the features", where=where, hint=hint)
    return Identity(words, rate, sha256, str(values.get("arithmetic", "")))


def require_same(given: str, given_by: str, wanted: str, wanted_by: str) -> None:
    """Raise UsageError, with both hashes, if they differ. given_by, wanted_by: where each comes from, for the error."""
    if given and wanted and given != wanted:
        raise UsageError(
            f"the features of {given_by} ({given[:16]}) are not those of {wanted_by} ({wanted[:16]})",
            where=preprocess.WHERE,
            hint="use the same words, rate and version of mcugen for training, tests and firmware",
        )
