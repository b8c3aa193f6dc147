"""Recipe of a quantization: the steps applied to a network, and the bits of its weights and activations."""

from __future__ import annotations

from dataclasses import dataclass

from mcugen.quantize.activation_ranges import MIN_MAX

TERNARY, ODD = 1, 2
"""Bits of weights that are -1, 0, 1, and of those that are -3, -1, 1, 3. Files hold them in 4 bits."""
NEAREST, LEAST_SQUARES, AS_BEFORE = "nearest", "least squares", "the older model"


@dataclass(frozen=True)
class Recipe:
    """Steps of a quantization; the defaults are the plainest ones.

    ranges: how ranges of activations are chosen, see `activation_ranges.chosen`; AS_BEFORE: from an older model
    balanced: whether cross-layer equalization gives channels of an activation equal ranges
    floor: the least range of a channel that equalization assumes, as a share of the tensor's range
    bias: whether biases compensate for the mean shift by rounding
    least_rows: a layer with fewer results than this keeps its bias
    rounding: how weights are rounded
    refit: whether weights are first fitted to the inputs that reach a layer
    widen: factor on the ranges
    """

    ranges: str = MIN_MAX
    balanced: bool = False
    floor: float = 0.0
    bias: bool = False
    least_rows: int = 0
    rounding: str = NEAREST
    refit: bool = False
    widen: float = 1.0

    @property
    def solves(self) -> bool:
        """Whether weights or biases are fitted to the values of the samples, beyond their ranges."""
        return self.bias or self.rounding == LEAST_SQUARES

    def __str__(self) -> str:
        """The steps in words."""
        parts = [f"ranges by {self.ranges}"]
        careful = f" down to {self.floor:g} of the range" if self.floor else ""
        parts += [f"channels balanced{careful}"] if self.balanced else []
        if self.rounding == LEAST_SQUARES:
            parts += ["weights refitted and rounded by least squares" if self.refit else "weights by least squares"]
        elif self.bias:
            parts += ["biases corrected"]
        parts += ["biases of small layers as they were"] if self.bias and self.least_rows else []
        parts += [f"ranges widened {self.widen:.2f} times"] if self.widen != 1 else []
        return ", ".join(parts)


def weights_in_words(bits: int) -> str:
    """Weights of this many bits, as messages name them."""
    return "ternary weights" if bits == TERNARY else f"weights of {bits} bits"


@dataclass(frozen=True)
class Widths:
    """Bits of weights (8, 4, `ODD` or `TERNARY`) and of activations (8 or 16): the default, and (node, bits) of layers
    that differ.

    block: if not 0, weights of 4 bits have a scale for each block of that many
    """

    weights: int = 8
    activations: int = 8
    weights_of: tuple[tuple[str, int], ...] = ()
    activations_of: tuple[tuple[str, int], ...] = ()
    block: int = 0

    @property
    def has_few_bits(self) -> bool:
        """Whether any weights have less than 8 bits."""
        return min(self.weights, *(bits for _, bits in self.weights_of), 8) < 8

    def of_weights(self, node: str) -> int:
        return dict(self.weights_of).get(node, self.weights)

    def of_data(self, node: str) -> int:
        return dict(self.activations_of).get(node, self.activations)
