# SPDX-License-Identifier: Apache-2.0
"""Random layers with weights, on every kernel that takes them: odd shapes, scales and sums at the edges of proofs.

    python -m tests.support.random_layers [--layers N] [--first SEED] [--core NAME]

compares the kernels of all cores in plain C on the host, under sanitizers, or those of one core where it is emulated.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from mcugen import kernels
from mcugen.boards import target
from mcugen.errors import McugenError, ToolError
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from tests.support import conformance, emulated, program
from tests.support.cases import Case, cases_of

LAYERS = 200
AT_ONCE = 20
MAX_ELEMENTS = 9000
MAX_MACS = 2_000_000
CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 25, 31, 32, 33, 57, 63, 64, 65, 100, 127, 128, 130)
SIDES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 20, 33)
KERNELS = ((1, 1), (1, 1), (1, 1), (3, 3), (3, 3), (2, 2), (5, 5), (1, 3), (3, 1), (1, 7), (13, 1), (4, 4), (2, 5))
FIRST_KERNELS = ((3, 3), (3, 3), (2, 2), (2, 3), (1, 5), (8, 3), (1, 1))
STRIDES = ((1, 1), (1, 1), (1, 1), (2, 2), (1, 2), (2, 1), (3, 3), (1, 3))
ZERO_POINTS = (-128, -128, 127, 0, 0, -1, 3, 100)
ACTIVATIONS = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")
EDGES = (2**21, 2**23, 2**30, 2**31 - 1)
"""Sums at which some proof ends."""


def random_layer(seed: int) -> Example:
    """The layer of this seed."""
    rng = Random(seed)
    return _quantized(rng, *_drawn(rng, seed))


def layers_alike(seed: int, count: int) -> list[Example]:
    """Layers of one shape, each with other weights, scales and zero points."""
    shape = _drawn(Random(seed), seed)
    return [_quantized(Random(f"{seed} {k}"), *shape) for k in range(count)]


def _drawn(rng: Random, seed: int) -> tuple[Op, tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]:
    """An operator, the shapes of its image and weights, the axis of the channels, and the shape of the result."""
    while True:
        op, image, weights, axis = _first_layer(rng) if seed % 8 == 7 else _shapes(rng)
        try:
            out = op.infer(TensorType(image, "s8", QuantParams((1.0,), (0,))), _plain(weights))[0]
        except McugenError:
            continue
        taps = int(np.prod(weights)) // weights[axis]
        if max(np.prod(image), out.size) <= MAX_ELEMENTS and out.size * taps <= MAX_MACS:
            return op, image, weights, axis, out.shape


def _plain(shape: tuple[int, ...]) -> TensorType:
    return TensorType(shape, "s8", QuantParams((1.0,), (0,)))


def _shapes(rng: Random) -> tuple[Op, tuple[int, ...], tuple[int, ...], int]:
    """The operator, the shapes of its data and weights, and the axis of the weights that outputs run along."""
    c, o, kernel, activation = rng.choice(CHANNELS), rng.choice(CHANNELS), rng.choice(KERNELS), rng.choice(ACTIVATIONS)
    image = (rng.choice((1, 1, 1, 2)), rng.choice(SIDES), rng.choice(SIDES), c)
    dilation = (rng.randint(1, 3), rng.randint(1, 3)) if rng.random() < 0.2 else (1, 1)
    geometry = (rng.choice(STRIDES), dilation, rng.choice(("SAME", "VALID")), activation)
    kind = rng.choice(("conv", "conv", "tiles", "depthwise", "depthwise", "dense"))
    if kind == "tiles":
        tall, c, o = Conv2D((rng.choice((1, 1, 2)), 1), *geometry[1:]), 4 * rng.randint(1, 20), 2 * rng.randint(1, 12)
        return tall, (*image[:2], rng.choice((5, 6, 7, 8, 9, 11, 12, 20, 25)), c), (o, 3, 3, c), 0
    if kind == "conv":
        return Conv2D(*geometry), image, (o, *kernel, c), 0
    if kind == "depthwise":
        return DepthwiseConv2D(*geometry), image, (1, *kernel, c * rng.choice((1, 1, 1, 1, 2))), 3
    return FullyConnected(activation), (image[0] * rng.randint(1, 5), c), (o, c), 0


def _first_layer(rng: Random) -> tuple[Op, tuple[int, ...], tuple[int, ...], int]:
    """A layer for `_shapes`: a convolution of few channels over long and short rows, mostly of at most 48 taps."""
    c, kernel = rng.choice((1, 2, 3, 3, 4, 5, 7, 16)), rng.choice(FIRST_KERNELS)
    image = (1, rng.randint(1, 14), rng.choice((3, 5, 9, 14, 19, 33, 48)), c)
    op = Conv2D(rng.choice(STRIDES), (1, 1), rng.choice(("SAME", "VALID")), rng.choice(ACTIVATIONS))
    return op, image, (rng.randint(4, 18), *kernel, c), 0


def _quantized(
    rng: Random, op: Op, image: tuple[int, ...], shape: tuple[int, ...], axis: int, out: tuple[int, ...]
) -> Example:
    """Weights, some legacy uint8 ones less a zero point, and bias with some channels at an extreme, and scales that
    spread most outputs over int8.
    """
    data, outputs, zero = np.random.default_rng(rng.randrange(2**31)), shape[axis], rng.choice(ZERO_POINTS)
    is_legacy = rng.random() < 0.15
    w = data.integers(0, 256, shape) if is_legacy else data.integers(-127 - (rng.random() < 0.1), 128, shape)
    by_output = np.moveaxis(w, axis, 0)
    by_output[data.random(outputs) < 0.1] = rng.choice((0, 127, 255) if is_legacy else (0, 127, -127))
    w -= is_legacy * rng.choice((0, 1, 97, 128, 140, 255))
    flat = by_output.reshape(outputs, -1)
    room = rng.choice(EDGES) - (128 + abs(zero)) * np.abs(flat).sum(axis=1) + rng.choice((-1000, -1, 0, 1, 1000))
    edge = np.clip(room, 0, 2**31 - 1) * data.choice([-1, 1], outputs)
    bias = np.where(data.random(outputs) < rng.choice((0.0, 0.0, 0.2)), edge, data.integers(-2000, 2001, outputs))
    spread = np.maximum(128.0 * np.sqrt((flat.astype(float) ** 2).sum(axis=1)) + np.abs(bias), 1.0)
    factors = 127 / spread * 2.0 ** data.uniform(-1, 1, outputs) * rng.choice((1, 1, 1, 8, 0.01, 1e-4))
    factors = np.minimum(factors, rng.choice((0.49, 0.49, 0.99, 3.0))).astype(np.float32)
    per_channel = rng.random() < 0.7 and not is_legacy and not isinstance(op, FullyConnected)
    scales = factors if per_channel else factors[:1]
    quant = QuantParams(tuple(map(float, scales)), (0,) * scales.size, axis if scales.size > 1 else 0)
    dtype = "s16" if is_legacy else "s8"
    inputs = (TensorType(image, "s8", QuantParams((1.0,), (zero,))), TensorType(shape, dtype, quant))
    y = TensorType(out, "s8", QuantParams((1.0,), (rng.choice(ZERO_POINTS),)))
    constants = {1: w.astype(inputs[1].np_dtype), 2: bias.astype(np.int32)}
    return Example(op, (*inputs, TensorType((outputs,), "s32")), (y,), constants, rng.randrange(2**31))


def cases(first: int, count: int, features: frozenset[str], sets: int) -> list[Case]:
    """The layers of these seeds on each kernel that cores with these features have. Raises where none takes one."""
    found: list[Case] = []
    for seed in range(first, first + count):
        example = random_layer(seed)
        named = f"seed {seed} {type(example.op).__name__}"
        op = type(named, (type(example.op),), {"examples": classmethod(lambda cls, e=example: [e])})
        made, refused = cases_of(op, features, sets, f"s{seed}_", variants=False)
        if refused:
            raise AssertionError(f"seed {seed}: {refused[0].why}")
        found += made
    return found


def failures(found: Sequence[Case], core: str, folder: Path) -> list[program.Difference]:
    """The differences from the oracle, on the host or on an emulated core."""
    folder.mkdir(parents=True)
    if core:
        groups = [program.Group(f"g{k}", tuple(found[k : k + AT_ONCE])) for k in range(0, len(found), AT_ONCE)]
        return emulated.run_groups(target.load(core), groups, folder)
    try:
        return conformance.run_host(conformance.compile_host(program.Group("layers", tuple(found)), folder), found)
    except ToolError as error:
        return conformance.compiler_complaints(error)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--first", type=int, default=0, help="seed of the first layer")
    parser.add_argument("--core", default="", help="an emulated core; on the host by default")
    options = parser.parse_args(arguments)
    features = target.load(options.core).features if options.core else kernels.features()
    taken: Counter[str] = Counter()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mcugen-") as scratch:
        for first in range(options.first, options.first + options.layers, AT_ONCE):
            count = min(AT_ONCE, options.first + options.layers - first)
            found = cases(first, count, features, 3 if options.core else 8)
            taken.update(case.label.rsplit(" ", 1)[-1] for case in found)
            problems = failures(found, options.core, Path(scratch) / f"{first}")
            print("\n".join([f"  {problem}" for problem in problems] or ["."]), flush=True)
            failed += len(problems)
    print(f"{options.layers} layers on {sum(taken.values())} kernels: {failed} failures, {dict(taken)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
