"""Distillation: a pruned network is trained to reproduce the original's outputs, on variations of the samples.

Source: Hinton et al., Distilling the knowledge in a neural network; Romero et al., FitNets; Kingma and Ba, Adam.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.ir.graph import Node
from mcugen.passes.remove_channels import Masks
from mcugen.quantize import rounding
from mcugen.quantize.backwards import Arrays, GradientNetwork, matrix, unmatrix
from mcugen.quantize.coupled import meets_all
from mcugen.quantize.effort import work
from mcugen.quantize.moments import moments_of
from mcugen.quantize.parallel import in_threads, parts
from mcugen.quantize.scores import MAX_CLASSES
from mcugen.quantize.variations import varied

BATCH = 16
_RATE = 0.03
"""Largest learning rate: the step of a weight, as a share of the mean magnitude of its layer's weights."""
_OF_BIAS = np.float32(0.3)
_HINTED = 0.6
"""Share of the training during which the inputs of layers contribute to the loss."""
_WARM = 20
_WORK, _MOST, _FEWEST = 1.5e12, 3000, 100
"""Limits of the training: most multiply-accumulates, most steps, and fewest steps."""
_SHARE, _SOFTER = np.float32(0.2), np.float32(2.0)
"""Weight of the class probabilities in the loss, and their temperature."""
_FOR_BASES = 256
_MOST_TAPS = 1024
_FIRST, _SECOND = 0.9, 0.99
_TINY = 1e-12
_PROGRESS_STEPS = 25


def _softened(y: np.ndarray) -> np.ndarray:
    """Class probabilities from scores, softened by the temperature."""
    e = np.exp((y - y.max(axis=-1, keepdims=True)) / _SOFTER)
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def steps_for(teacher: GradientNetwork) -> int:
    """Number of training steps. It depends on the network alone, not on the machine's speed, so that results repeat."""
    return int(min(_MOST, max(_FEWEST, _WORK / (4 * BATCH * work(teacher.graph)))))


@dataclass
class Training:
    """Training of the pruned network (student) to reproduce the original network (teacher).

    gone: channels that the student lacks; weights: the student's trained constants so far
    """

    student: GradientNetwork
    teacher: GradientNetwork
    inputs: Arrays
    gone: Masks
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    _bases: dict[str, _Basis] = field(default_factory=dict)
    _first: dict[str, np.ndarray] = field(default_factory=dict)
    _second: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        graph = self.teacher.graph
        read = [str(n.inputs[0]) for n in self.teacher.layers if meets_all(graph, n)]
        self.matched = [name for name in dict.fromkeys(read) if name in self.teacher.learned]
        shapes = {name: graph.type(name).shape for name in self.teacher.heads}
        self._classes = {n for n, s in shapes.items() if 1 < math.prod(s) == s[-1] <= MAX_CLASSES}
        self.power = self._powers()
        student = self.student.with_weights(self.weights)
        found = moments_of(student, varied(self.inputs, _FOR_BASES, 2, 0))
        self._bases = {node.name: _basis(found[node.name]) for node in student.layers}

    def _powers(self) -> dict[str, float]:
        """Variance of each tensor in the loss, summed over the channels that the student has."""
        run = self.teacher.run({name: a[: 4 * BATCH] for name, a in self.inputs.items()})
        found = {name: self._left(name, run.values[name]) for name in self.matched}
        found.update((name, self._left(name, run.sums.get(name, run.values[name]))) for name in self.teacher.heads)
        return {name: float(y.var(axis=0, dtype=np.float64).sum()) + _TINY for name, y in found.items()}

    def _left(self, name: str, y: np.ndarray) -> np.ndarray:
        """The channels of a teacher's tensor that the student has."""
        gone = self.gone[name]
        return y[..., ~gone] if gone.any() else y

    def run(self, steps: int, progress: Callable[[str], None]) -> dict[str, np.ndarray]:
        """Train for `steps` steps, while the learning rate falls along half a cosine. Returns the constants.

        The loss has errors of the outputs, and errors of layers' inputs with a weight that falls from 1 to 0.
        """
        for step in range(steps):
            if step % _PROGRESS_STEPS == 0:
                progress(f"training what is left, step {step} of {steps}")
            rate = _RATE * min(1.0, (step + 1) / _WARM) * 0.5 * (1 + math.cos(math.pi * step / steps))
            self._step(step, rate, max(0.0, 1 - step / (_HINTED * steps)))
        return self.weights

    def _step(self, step: int, rate: float, hint: float) -> None:
        batch = varied(self.inputs, BATCH, 0, step)
        student = self.student.with_weights(self.weights)
        found = in_threads(lambda which: self._gradients(student, batch, which, hint), parts(self.teacher, BATCH))
        total = {name: np.sum([part[name] for part in found], axis=0) for name in found[0]}
        for node in student.layers:
            self._move(student, node, total, step, rate)

    def _gradients(self, student: GradientNetwork, batch: Arrays, which: slice, hint: float) -> Arrays:
        """Gradients with respect to weights on some samples. Loss: squared errors / variance, summed over tensors.

        hint: weight of the errors of layers' inputs in the loss
        """
        some = {name: a[which] for name, a in batch.items()}
        wanted, made = self.teacher.run(some), student.run(some)
        at = {}
        for name in self.teacher.heads:
            pair = made.sums.get(name, made.values[name]), self._left(name, wanted.sums.get(name, wanted.values[name]))
            at[name] = self._error(name, *pair)
            if name in self._classes:
                at[name] += _SHARE / BATCH * (_softened(pair[0]) - _softened(pair[1]))
        above = {
            name: np.float32(hint) * self._error(name, made.values[name], self._left(name, wanted.values[name]))
            for name in (self.matched if hint else ())
        }
        return student.gradients(made, at, above)[0]

    def _error(self, name: str, made: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        return np.asarray((made - wanted) * np.float32(2 / self.power[name] / BATCH))

    def _move(self, student: GradientNetwork, node: Node, gradients: Arrays, step: int, rate: float) -> None:
        """Update a layer's weights and bias by steps in proportion to their mean magnitude.

        Adam scales the weights' gradient along each principal direction of the inputs. The bias also compensates for
        the change of the mean result.
        """
        call, basis = student.call(node, student.graph.call(node, student.reference)), self._bases[node.name]
        names = [name for name in node.inputs[1:3] if name is not None]
        w = matrix(call)
        by_tap = matrix(replace(call, constants=(None, gradients[names[0]])))
        by_bias = gradients[names[1]].reshape(-1) if len(names) > 1 else None
        along = self._adam(names[0], basis.turned(by_tap, by_bias), step)
        moved = basis.back(along) * (rate * np.abs(w).mean())
        self.weights[names[0]] = unmatrix(call, w - moved)
        if by_bias is not None:
            b = student.constant(names[1])
            change = self._adam(names[1], by_bias, step) * (_OF_BIAS * rate * np.abs(b).mean()) - basis.mean(moved)
            self.weights[names[1]] = (b - change.reshape(b.shape)).astype(np.float32)

    def _adam(self, name: str, gradient: np.ndarray, step: int) -> np.ndarray:
        first = self._first[name] = _FIRST * self._first.get(name, np.float32(0)) + (1 - _FIRST) * gradient
        second = self._second[name] = _SECOND * self._second.get(name, np.float32(0)) + (1 - _SECOND) * gradient**2
        along = first / (1 - _FIRST ** (step + 1)) / (np.sqrt(second / (1 - _SECOND ** (step + 1))) + _TINY)
        return along.astype(np.float32)


@dataclass(frozen=True, eq=False)
class _Basis:
    """Principal directions of a layer's inputs around their mean.

    x: mean input [groups, taps]; turn: directions [groups, taps, taps], None for the taps themselves
    """

    x: np.ndarray
    turn: np.ndarray | None

    def turned(self, by_tap: np.ndarray, by_bias: np.ndarray | None) -> np.ndarray:
        """Gradients along the directions, from gradients of weights [outputs, taps] and of biases [outputs]."""
        groups, taps = self.x.shape
        g = by_tap.reshape(groups, -1, taps)
        if by_bias is not None:
            g = g - by_bias.reshape(groups, -1, 1) * self.x[:, None]
        return g if self.turn is None else g @ self.turn

    def back(self, along: np.ndarray) -> np.ndarray:
        """Changes of weights [outputs, taps], from changes along the directions."""
        found = along if self.turn is None else along @ self.turn.swapaxes(1, 2)
        return found.reshape(-1, self.x.shape[1])

    def mean(self, change: np.ndarray) -> np.ndarray:
        """Change of the mean results [outputs] by a change of the weights [outputs, taps]."""
        groups, taps = self.x.shape
        return np.asarray((change.reshape(groups, -1, taps) @ self.x[:, :, None]).reshape(-1))


def _basis(moments: rounding.Moments) -> _Basis:
    """Principal directions of a layer's inputs; the taps themselves if there are more than 1024."""
    x = moments.x.astype(np.float32)
    if x.shape[1] > _MOST_TAPS:
        return _Basis(x, None)
    return _Basis(x, np.linalg.eigh(moments.xx)[1].astype(np.float32))
