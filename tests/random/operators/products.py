# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, spectra and distances."""

from __future__ import annotations

import numpy as np

from tests.random.operators import draws
from tests.random.sketch import MICROSOFT, Sketch, Value


@draws("MatMul")
def mat_mul(s: Sketch) -> None:
    x = s.take()
    inner = x.shape[-1]
    shape = s.pick(((inner,), (inner, s.number(1, 6)), (*x.shape[:-2], inner, s.number(1, 4))))
    other = s.weights(*shape) if s.chance(0.7) or len(shape) < 2 else s.take(shape=shape)
    if x.rank == 2 and s.chance(0.3):
        s.node("MatMul", [s.weights(s.number(1, 5), x.shape[0]), x])
    else:
        s.node("MatMul", [x, other])


@draws("Gemm")
def gemm(s: Sketch) -> None:
    gemm_of(s, "Gemm", "")


@draws("com.microsoft:FusedGemm", since=11)
def fused_gemm(s: Sketch) -> None:
    gemm_of(s, "FusedGemm", MICROSOFT, activation=s.pick(("Relu", "Tanh", "Sigmoid", "LeakyRelu")))


def gemm_of(s: Sketch, name: str, domain: str, **more: object) -> None:
    a, b, width = s.pick((0, 1)), s.pick((0, 1)), s.number(1, 6)
    x = s.take(2)
    rows, inner = x.shape[::-1] if a else x.shape
    weights = s.weights(width, inner) if b else s.weights(inner, width)
    addend = [s.weights(*s.pick(((width,), (1, width), (rows, width), (rows, 1), (1,))))] if s.chance(0.8) else []
    s.need(bool(addend) or s.opset >= 11)
    numbers = {key: float(s.rng.uniform(0.2, 2)) if s.chance(0.4) else None for key in ("alpha", "beta")}
    flags = {"transA": a or None, "transB": b or None}
    s.results(name, [x, weights, *addend], 1, domain=domain, **numbers, **flags, **more)


@draws("com.microsoft:FusedConv", since=11)
def fused_conv(s: Sketch) -> None:
    x = s.take(shape=(1, s.number(1, 4), s.number(3, 7), s.number(3, 7)))
    weights = s.weights(s.number(1, 5), x.shape[1], 3, 3)
    activation = s.pick(("Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid"))
    numbers = {"LeakyRelu": [0.125], "Clip": [-0.5, 1.5], "HardSigmoid": [0.25, 0.5]}.get(activation)
    more = {"activation": activation, "activation_params": numbers, "kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    s.results("FusedConv", [x, weights, s.weights(weights.shape[0])], 1, domain=MICROSOFT, **more)


@draws("com.microsoft:CDist", since=11)
def distances(s: Sketch) -> None:
    x = s.take(2)
    rows = s.weights(s.number(1, 6), x.shape[1])
    s.results("CDist", [x, rows], 1, domain=MICROSOFT, metric=s.pick(("euclidean", "sqeuclidean")))


@draws("com.microsoft:MatMulNBits", since=11)
def blocked_weights(s: Sketch) -> None:
    x, bits, block, outputs = s.take(), s.pick((4, 8)), s.pick((16, 32)), s.number(1, 6)
    blocks = -(-x.shape[-1] // block)
    stored = s.const(s.ints((outputs, blocks, block * bits // 8), np.uint8, 0, 255))
    operands = [x, stored, s.weights(outputs * blocks)]
    if s.chance(0.5):
        operands.append(s.const(s.ints((outputs * -(-blocks * bits // 8),), np.uint8, 0, 255)))
    sizes = {"K": x.shape[-1], "N": outputs, "bits": bits, "block_size": block}
    s.results("MatMulNBits", operands, 1, domain=MICROSOFT, **sizes)


@draws("Einsum", since=12)
def einsum(s: Sketch) -> None:
    a, b, c, d = (s.number(1, 5) for _ in range(4))
    sizes = {"a": a, "b": b, "c": c, "d": d}
    equation = s.pick((
        "ab,bc->ac", "ab,cb->ac", "abc,cd->abd", "abc,acd->abd", "ab->ba", "ab->a", "ab,ab->a", "ab,b->a", "a,b->ab",
        "abc->cab", "abc,abd->acd", "ab,bc", "...b,bc->...c", "abcd,acbd->abcd",
    ))  # fmt: skip
    terms = equation.split("->")[0].split(",")
    shapes = [tuple(sizes[k] for k in term.replace("...", "a")) for term in terms]
    operands = [s.take(shape=shapes[0]), *(s.pick((s.weights(*t), s.input(t))) for t in shapes[1:])]
    s.node("Einsum", operands, equation=equation)


def _signal(s: Sketch) -> Value:
    return s.take(shape=(s.number(1, 2), s.number(2, 9), 1))


@draws("DFT", since=17)
def dft(s: Sketch) -> None:
    x = _signal(s)
    if s.opset < 20:
        s.node("DFT", [x], axis=s.pick((None, 1)), onesided=s.pick((None, 0, 1)))
    else:
        s.node("DFT", [x, None, s.const(np.int64(1))], onesided=s.pick((None, 0, 1)))


@draws("STFT", since=17)
def stft(s: Sketch) -> None:
    length = s.pick((4, 8))
    x = s.take(shape=(1, length * s.number(1, 3) + s.number(0, 3)))
    step, size = s.const(np.int64(s.number(1, 4))), s.const(np.int64(length))
    window = s.const(np.hanning(length).astype(np.float32))
    operands = [x, step, window] if s.chance(0.5) else [x, step, window, size]
    s.node("STFT", operands, onesided=s.pick((None, 0, 1)))


@draws("HannWindow", "HammingWindow", "BlackmanWindow", since=17)
def window(s: Sketch, name: str) -> None:
    x = s.take()
    made = s.node(name, [s.const(np.int64(x.shape[-1]))], periodic=s.pick((None, 0, 1)))
    s.node("Mul", [x, made])


@draws("MelWeightMatrix", since=17)
def mel(s: Sketch) -> None:
    numbers = [s.const(np.int64(v)) for v in (s.number(2, 5), 16, 8000)]
    ends = [s.const(np.float32(v)) for v in (0, s.pick((2000, 4000)))]
    s.node("MatMul", [s.take(shape=(2, 9)), s.node("MelWeightMatrix", [*numbers, *ends])])


@draws("TfIdfVectorizer", since=9)
def tf_idf(s: Sketch) -> None:
    x = s.input((s.number(4, 9),), lambda t: s.ints(t, np.int64, 0, 4))
    s.node(
        "TfIdfVectorizer", [x], max_gram_length=2, max_skip_count=s.number(0, 2), min_gram_length=s.number(1, 2),
        mode=s.pick(("TF", "IDF", "TFIDF")), ngram_counts=[0, 3], ngram_indexes=[0, 1, 2, 3, 4],
        pool_int64s=[1, 2, 3, 1, 2, 3, 4], weights=[0.5, 1.5, 2.0, 0.25, 1.0],
    )  # fmt: skip
