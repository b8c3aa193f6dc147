"""mse: the mean squared error of the first output to targets."""

from __future__ import annotations

import numpy as np

from mcugen.errors import UsageError
from mcugen.samples.labels import Truth
from mcugen.samples.metrics import WHERE, Interface, Metric, Outputs, Scores, top1


def fits(truth: Truth, network: Interface) -> bool:
    """Targets of samples, or numbers of one output that are no classes."""
    if network.frames or not isinstance(truth, np.ndarray):
        return False
    return truth.dtype.kind == "f" or (truth.ndim == 1 and not top1.fits(truth, network))


def require(truth: Truth, network: Interface) -> None:
    if not isinstance(truth, np.ndarray):
        raise UsageError("mse needs targets", where=WHERE, hint="give targets of the output's shape as 'y'")
    size, first = truth[:1].size, network.outputs[0].size * max(1, network.frames)
    if size != first:
        hint = "give targets of the output's shape, or use top1"
        what = f"there are {size} targets per sample, but the model has {first} outputs"
        raise UsageError(what, where=WHERE, hint=hint)


def score(outputs: Outputs, truth: Truth, network: Interface) -> Scores:
    assert isinstance(truth, np.ndarray)
    found, wanted = (a.reshape(len(truth), -1).astype(np.float64) for a in (outputs[0], truth))
    return {"mse": float(((found - wanted) ** 2).mean())}


METRIC = Metric("mse", fits, require, score, {"mse": "mean squared error"})
