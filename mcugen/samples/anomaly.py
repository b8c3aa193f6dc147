"""The word `anomaly` of `--decide`: whether a network's outputs are far from all stored centroids."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError
from mcugen.ops.cast import Cast
from mcugen.ops.compare import Compare
from mcugen.ops.div import Div
from mcugen.ops.mul import Mul
from mcugen.ops.reduce_max import ReduceMax
from mcugen.ops.sub import Sub
from mcugen.samples import arrays
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.preprocess import DECISION, Word

MAX_NUMBERS = 1 << 16
_HINT = "write it with numpy.savez(path, centroids=..., distance=[...]), and deviations=[...] if there are any"


@dataclass(frozen=True, eq=False)
class Normal:
    """The set of normal numbers: all x for which |(x - centroids[k]) / deviations| <= distance[k] for some k.

    centroids: [clusters, numbers]; distance: [clusters] or [1]; deviations: [numbers] or [1]. All are float64.
    """

    centroids: np.ndarray
    distance: np.ndarray
    deviations: np.ndarray


def read(path: Path) -> Normal:
    """The centroids, distances and deviations of an .npz. Raises UsageError for missing or wrong arrays."""
    found: dict[str, np.ndarray] = {}
    for key, column in arrays.archive(path).items():
        if key not in ("centroids", "distance", "deviations"):
            raise UsageError(f"has an unknown array {key!r}", where=path.name, hint=_HINT)
        if column.count * int(np.prod(column.shape)) > MAX_NUMBERS:
            hint = "use fewer clusters"
            raise UsageError(f"{key!r} has more than {MAX_NUMBERS:,} numbers", where=path.name, hint=hint)
        found[key] = np.concatenate([*column.blocks(column.count)]).astype(np.float64)
        if not np.isfinite(found[key]).all():
            raise UsageError(f"{key!r} has numbers that are not finite", where=path.name, hint=_HINT)
    if "centroids" not in found or "distance" not in found:
        missing = "distance" if "centroids" in found else "centroids"
        raise UsageError(f"has no array {missing!r}", where=path.name, hint=_HINT)
    centroids, distance, deviations = found["centroids"], found["distance"], found.get("deviations", np.ones(1))
    if centroids.ndim != 2 or distance.shape not in ((1,), centroids.shape[:1]):
        shapes = f"centroids {list(centroids.shape)} and distance {list(distance.shape)}"
        hint = "give centroids [clusters, numbers], and a distance [1] or one for each cluster [clusters]"
        raise UsageError(f"{shapes} do not fit each other", where=path.name, hint=hint)
    if deviations.shape not in ((1,), centroids.shape[1:]) or (deviations <= 0).any():
        message = f"deviations must be an array [{centroids.shape[1]}] or [1] of numbers above 0"
        raise UsageError(message, where=path.name, hint="correct the array, or leave it out")
    if (distance < 0).any():
        hint = "give the largest normal distance from each centroid"
        raise UsageError("distance has a number below 0", where=path.name, hint=hint)
    return Normal(centroids, distance, deviations)


def is_far(front: FrontEnd, x: str, normal: Normal) -> str:
    """Whether x [1, n] lies outside the radius `distance` of every centroid: bool [1, 1]. Raises ValueError."""
    t = front.type(x)
    if t.dtype != "f32" or t.shape != (1, normal.centroids.shape[1]):
        raise ValueError(f"has centroids of {normal.centroids.shape[1]} numbers, but the network gives {t}")
    apart = front.node(Sub(), x, front.constant(normal.centroids))
    if (normal.deviations != 1).any():
        apart = front.node(Div(), apart, front.constant(normal.deviations.reshape(1, -1)))
    squares = front.total(front.node(Mul(), apart, apart), 1, 1.0)
    near = front.node(Compare("LESS_EQUAL"), squares, front.constant(normal.distance.reshape(-1, 1) ** 2))
    any_near = front.node(ReduceMax((0,), keep_dims=True), front.node(Cast("f32"), near))
    return front.node(Compare("LESS"), any_near, front.constant(np.array([[0.5]])))


WORD = Word(
    "anomaly=FILE",
    "whether the numbers are farther than the stored distance from every stored centroid",
    DECISION,
    is_far,
    lambda text: read(Path(text)),
)
