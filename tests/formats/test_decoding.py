# SPDX-License-Identifier: Apache-2.0
"""Compressed constants that are damaged are refused, and slices that take nothing are constants without elements."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest

from mcugen.errors import McugenError
from mcugen.formats import read, registry
from mcugen.oracle import interpreter
from tests.runtimes import decoded
from tests.runtimes.sketch import Sketch
from tests.support.tflite_writer import ModelWriter

SECONDS = 10.0


def model(parts: tuple[bytes, bytes], shape: tuple[int, ...] = decoded.SHAPE) -> bytes:
    w = ModelWriter()
    x = w.tensor("x", shape, "s8", scale=0.1)
    c, y = (w.tensor(name, shape, "s8", scale=0.1) for name in ("c", "y"))
    data = [w.tensor(f"p{k}", (len(p),), "u8", data=np.frombuffer(p, np.uint8)) for k, p in enumerate(parts)]
    w.op("CUSTOM", data, [c], custom_code=decoded.NAME.partition(":")[2])
    w.op("ADD", [x, c], [y])
    return w.build([x], [y])


def refused(data: bytes, folder: Path) -> bool:
    path = folder / "model.tflite"
    path.write_bytes(data)
    start = time.perf_counter()
    try:
        read.load(path, registry.load())
        return False
    except McugenError:
        return True
    finally:
        assert time.perf_counter() - start < SECONDS


@pytest.mark.parametrize("kind", range(3))
def test_damaged_constants_are_refused_or_read(kind: int, tmp_path: Path) -> None:
    s = Sketch(f"damage {kind}", "s8")
    count = int(np.prod(decoded.SHAPE))
    ways = (lambda: decoded.by_table(s, "s8", count, 3), lambda: decoded.by_codes(s, "s8", count, 16),
            lambda: decoded.by_zeros(s, "s8", count))  # fmt: skip
    packed, header = ways[kind]()
    assert not refused(model((packed, header)), tmp_path)
    assert all(refused(model(parts), tmp_path) for parts in ((packed[:3], header), (packed, header[:15])))
    rng = random.Random(kind)
    for _ in range(40):
        both = [bytearray(packed), bytearray(header)]
        part = rng.choice(both)
        part[rng.randrange(len(part))] ^= 1 << rng.randrange(8)
        refused(model((bytes(both[0]), bytes(both[1]))), tmp_path)


def test_codes_that_use_no_bits_end(tmp_path: Path) -> None:
    table = (0x8000).to_bytes(2, "little") * 4
    assert not refused(model((b"\0\0\0\0", decoded.header(1, 0x10) + table), (1, 64, 512)), tmp_path)


@pytest.mark.parametrize(("begin", "size"), [(0, 0), (3, 0), (3, -1)])
def test_slices_of_nothing_add_nothing(begin: int, size: int, tmp_path: Path) -> None:
    w = ModelWriter()
    x = w.tensor("x", (3, 2), "f32")
    bounds = [w.tensor(name, (2,), "s32", data=np.int32(v)) for name, v in (("b", [begin, 0]), ("n", [size, 2]))]
    part, y = w.tensor("part", (1, 2), "f32", shape_signature=[-1, 2]), w.tensor("y", (3, 2), "f32")
    w.op("SLICE", [x, *bounds], [part])
    w.op("CONCATENATION", [part, x], [y], {"axis": 0, "fused_activation_function": "NONE"})
    path = tmp_path / "model.tflite"
    path.write_bytes(w.build([x], [y]))
    graph = read.load(path, registry.load())
    data = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert np.array_equal(interpreter.run(graph, [data], "litert")[graph.outputs[0]], data)


def test_sizes_that_the_converter_left_open_are_noted(tmp_path: Path) -> None:
    w = ModelWriter()
    x, y = (w.tensor(name, (1, 1, 3), "f32", shape_signature=[-1, -1, 3]) for name in "xy")
    b, z = (w.tensor(name, (1, 3), "f32", shape_signature=[-1, 3]) for name in "bz")
    w.op("ABS", [x], [y])
    w.op("ABS", [b], [z])
    path = tmp_path / "model.tflite"
    path.write_bytes(w.build([x, b], [y, z]))
    notes = read.load(path, registry.load()).notes
    assert notes == ("input 'x': its open shape [-1, -1, 3] is taken as [1, 1, 3]",)
