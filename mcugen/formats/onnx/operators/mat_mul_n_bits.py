"""MatMulNBits: the product of float vectors and a matrix of 2, 4 or 8 bits, with a scale for each block of inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.formats._block_constants import signed
from mcugen.ir import subbyte
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.blocked_fully_connected import BlockedFullyConnected

_BITS = (2, 4, 8)
_LEAST_BLOCK = 16


def matmul(source: Source, e: Expansion) -> Sequence[str]:
    """y = x * B', and the bias if there is one; B is [N, K]. Source: com.microsoft MatMulNBits-1."""
    a = source.attributes
    outputs, length, bits, block = a["N"], a["K"], a.get("bits", 4), a["block_size"]
    a.ignore("accuracy_level")  # the arithmetic of ONNX Runtime: mcugen multiplies floats, its most exact level
    given = [*e.inputs, *(None,) * 6][:6]
    x, q, s, z, order, bias = given
    if x is None or q is None or s is None or not e.type(x).is_float:
        raise ShapeError("MatMulNBits needs float data, weights and scales")
    if order is not None:
        raise UnsupportedError(
            "MatMulNBits with g_idx, which gives each input a block of its own, is not supported",
            hint="quantize the weights without reordering (act-order) them",
        )
    if bits not in _BITS:
        raise UnsupportedError(f"MatMulNBits with {bits} bits is not supported", hint="use 2, 4 or 8 bits")
    if block < _LEAST_BLOCK or block & (block - 1) or min(outputs, length) < 1:
        raise ShapeError(f"MatMulNBits: K {length}, N {outputs} with a block_size of {block}, no power of two above 15")
    blocks = (outputs, -(-length // block))
    stored = _stored(_constant(e, q, "weights"), bits, block, blocks)[:, :length]
    scales = _constant(e, s, "scales")
    if scales.size != outputs * blocks[1]:
        raise ShapeError(f"MatMulNBits: {scales.size} scales for {outputs} outputs with {blocks[1]} blocks each")
    zeros = np.full(blocks, 1 << (bits - 1)) if z is None else _zeros(_constant(e, z, "zero points"), bits, blocks)
    names = signed(e, stored, scales.reshape(blocks), zeros, 1, block)
    if bias is None or e.data(bias) is not None:
        return [e.node(BlockedFullyConnected(block), x, *names, *(() if bias is None else (bias,)))]
    return [e.node(Add(), e.node(BlockedFullyConnected(block), x, *names), bias)]


def _constant(e: Expansion, name: str, what: str) -> np.ndarray:
    data = e.data(name)
    if data is None:
        raise UnsupportedError(f"MatMulNBits with {what} that are computed is not supported", hint="make them constant")
    return data


def _stored(data: np.ndarray, bits: int, block: int, blocks: tuple[int, int]) -> np.ndarray:
    """The unsigned integers [N, K, rounded up to whole blocks]."""
    count = blocks[0] * blocks[1] * block
    if data.dtype != np.uint8 or data.size != count * bits // 8:
        raise ShapeError(f"MatMulNBits: {data.size} bytes of {data.dtype} weights, but {count * bits // 8} are needed")
    return subbyte.unpacked(data.reshape(-1), bits, count, signed=False).reshape(blocks[0], -1)


def _zeros(data: np.ndarray, bits: int, blocks: tuple[int, int]) -> np.ndarray:
    """The zero points [N, blocks]: packed like weights, each row in whole bytes, or one float each."""
    each, most = 8 // bits, (1 << bits) - 1
    if data.dtype == np.uint8:
        row = -(-blocks[1] // each)
        if data.size != blocks[0] * row:
            raise ShapeError(f"MatMulNBits: {data.size} bytes of zero points, but {blocks[0] * row} are needed")
        every = subbyte.unpacked(data.reshape(-1), bits, blocks[0] * row * each, signed=False)
        return every.reshape(blocks[0], -1)[:, : blocks[1]].astype(np.int64)
    if data.size != blocks[0] * blocks[1]:
        raise ShapeError(f"MatMulNBits: {data.size} zero points for {blocks[0]} outputs with {blocks[1]} blocks each")
    values = data.reshape(blocks).astype(np.float64)
    wrong = values[~((values >= 0) & (values <= most) & (values == np.rint(values)))]
    if wrong.size:
        raise QuantizationError(
            f"MatMulNBits: the zero point {wrong[0]:g} is no integer from 0 to {most}",
            hint="quantize the weights again with zero points of uint8",
        )
    return values.astype(np.int64)


IMPORTS = (Import("onnx", "com.microsoft:MatMulNBits", expand=matmul),)
