"""Streaming over time: every output of a long stream equals that of the sliding window."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen.emit import sources_of
from mcugen.errors import UsageError
from mcugen.machines.toolchain import host_gcc, process
from mcugen.oracle import interpreter
from mcugen.pipeline import Artifact
from mcugen.verify.cases import cases
from mcugen.verify.host import verify
from tests.support.tflite_writer import ModelWriter

MAIN = """/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "net.h"

static net_t model;

int main(void)
{{
    static {c_type} frame[NET_INPUT_FRAME_LEN];
    unsigned char ready;
    int reset = 0;
    memset(&model, 0x5a, sizeof model);
    net_reset(&model);
    for (;;) {{
        reset = getchar();
        if (reset == EOF || fread(frame, sizeof frame, 1, stdin) != 1) {{
            return reset == EOF ? 0 : 1;
        }}
        if (reset == 'R') {{
            net_reset(&model);
        }}
        ready = net_push_frame(&model, frame);
        memset(frame, 0x33, sizeof frame); /* the frame is the caller's again */
        fwrite(&ready, 1, 1, stdout);
        fwrite(net_output(&model), NET_OUTPUT_SIZE, 1, stdout);
    }}
}}
"""


@dataclass
class Net:
    """A network on [1, frames, width, channels], layer by layer; shapes follow from the operators."""

    frames: int
    width: int = 1
    channels: int = 4
    dtype: str = "s8"
    seed: int = 1
    m: ModelWriter = field(default_factory=ModelWriter)
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.input = self.activation((1, self.frames, self.width, self.channels))

    def activation(self, shape: tuple[int, ...]) -> int:
        quant: dict[str, Any] = {} if self.dtype == "f32" else {"scale": 0.05, "zero_point": int(self.rng.integers(9))}
        tensor = self.m.tensor(f"t{len(self.shapes)}", shape, self.dtype, **quant)
        self.shapes[tensor] = shape
        return tensor

    def constant(self, shape: tuple[int, ...], *, axis: int = 0, bias: bool = False) -> int:
        if self.dtype == "f32":
            data = self.rng.standard_normal(shape)
            return self.m.tensor(f"c{len(self.shapes)}", shape, "f32", data=data)
        if bias:
            data = self.rng.integers(-300, 300, shape)
            return self.m.tensor("bias", shape, "s32", scale=[0.05 * 0.01] * shape[0], data=data)
        scales = [0.01] * shape[axis]
        return self.m.tensor("w", shape, "s8", scale=scales, axis=axis, data=self.rng.integers(-127, 128, shape))

    def conv(self, x: int, out: int, size: tuple[int, int], *, kind: str = "CONV_2D", **options: Any) -> int:
        _, h, w, c = self.shapes[x]
        deep = kind == "DEPTHWISE_CONV_2D"
        out = c if deep else out
        weights = self.constant((1, *size, c) if deep else (out, *size, c), axis=3 if deep else 0)
        dilation = options.get("dilation_h_factor", 1)
        same, stride = options.get("padding") == "SAME", options.get("stride_h", 1)
        reach = (size[0] - 1) * dilation + 1
        rows = -(-h // stride) if same else (h - reach) // stride + 1
        y = self.activation((1, rows, w if same else w - size[1] + 1, out))
        given = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
        given |= {"depth_multiplier": 1} if deep else {}
        self.m.op(kind, [x, weights, self.constant((out,), bias=True)], [y], given | options, version=3)
        return y

    def pool(self, x: int, kind: str, size: tuple[int, int]) -> int:
        _, h, w, c = self.shapes[x]
        y = self.same_quant(x, (1, h - size[0] + 1, w - size[1] + 1, c))
        options = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "filter_height": size[0], "filter_width": size[1]}
        self.m.op(kind, [x], [y], options, version=2)
        return y

    def same_quant(self, x: int, shape: tuple[int, ...]) -> int:
        """A tensor with the quantization of another, as pooling and reshaping want it."""
        origin = self.m._tensors[x]
        quant = {"scale": origin.scale, "zero_point": origin.zero_point} if origin.scale else {}
        y = self.m.tensor(f"t{len(self.shapes)}", shape, self.dtype, **quant)  # type: ignore[arg-type]
        self.shapes[y] = shape
        return y

    def pointwise(self, kind: str, inputs: Sequence[int], options: dict[str, Any] | None = None) -> int:
        shape = tuple(max(sides) for sides in zip(*(self.shapes[x] for x in inputs), strict=True))
        y = self.activation(shape)
        self.m.op(kind, list(inputs), [y], options or {}, version=2)
        return y

    def concatenated(self, inputs: Sequence[int]) -> int:
        shape = self.shapes[inputs[0]]
        y = self.same_quant(inputs[0], (*shape[:3], sum(self.shapes[x][3] for x in inputs)))
        self.m.op("CONCATENATION", list(inputs), [y], {"axis": 3})
        return y

    def mean(self, x: int, *, keep: bool = True) -> int:
        shape = self.shapes[x]
        y = self.activation((1, 1, 1, shape[3]) if keep else (1, shape[3]))
        axes = self.m.tensor("axes", (2,), "s32", data=[1, 2])
        self.m.op("MEAN", [x, axes], [y], {"keep_dims": keep}, version=2)
        return y

    def dense(self, x: int, out: int) -> int:
        length = math.prod(self.shapes[x])
        flat = self.same_quant(x, (1, length))
        self.m.op("RESHAPE", [x, self.m.tensor("shape", (2,), "s32", data=[1, length])], [flat])
        y = self.activation((1, out))
        if self.dtype == "f32":
            weights = self.constant((out, length))
        else:
            data = self.rng.integers(-127, 128, (out, length))
            weights = self.m.tensor("dense", (out, length), "s8", scale=0.01, data=data)
        bias = self.constant((out,), bias=True)
        self.m.op("FULLY_CONNECTED", [flat, weights, bias], [y], {}, version=4)
        return y

    def compiled(self, folder: Path, output: int, **options: Any) -> Artifact:
        path = folder / "net.tflite"
        path.write_bytes(self.m.build([self.input], [output]))
        return mcugen.compile(path, name="net", **({"input_mode": "frames"} | options))


def dilated(dtype: str = "s8") -> tuple[Net, int]:
    net = Net(frames=14, dtype=dtype)
    y = net.conv(net.input, 5, (3, 1), dilation_h_factor=3)
    y = net.conv(y, 6, (2, 1), dilation_h_factor=4)
    return net, net.dense(net.mean(y), 3)


def depthwise() -> tuple[Net, int]:
    net = Net(frames=11, width=4, channels=3)
    y = net.conv(net.input, 0, (3, 2), kind="DEPTHWISE_CONV_2D")
    y = net.conv(y, 0, (4, 1), kind="DEPTHWISE_CONV_2D", dilation_h_factor=2)
    return net, net.conv(y, 2, (3, 3))


def pooled(dtype: str = "s8") -> tuple[Net, int]:
    net = Net(frames=9, width=2, dtype=dtype)
    y = net.pool(net.conv(net.input, 5, (2, 1)), "MAX_POOL_2D", (3, 1))
    y = net.pool(y, "AVERAGE_POOL_2D", (2, 2))
    return net, net.dense(net.pool(y, "AVERAGE_POOL_2D", (5, 1)), 4)


def residual() -> tuple[Net, int]:
    net = Net(frames=10)
    a = net.conv(net.input, 4, (3, 1))
    b = net.conv(a, 4, (1, 1))
    c = net.pointwise("ADD", [a, b])
    d = net.pointwise("LOGISTIC", [net.conv(a, 4, (1, 1))])
    e = net.pointwise("MUL", [c, d])
    return net, net.dense(net.mean(net.conv(e, 3, (3, 1))), 3)


def joined() -> tuple[Net, int]:
    net = Net(frames=8, width=2)
    a = net.conv(net.input, 3, (2, 1))
    b = net.pool(a, "MAX_POOL_2D", (1, 1))
    c = net.concatenated([a, b])
    return net, net.dense(net.mean(net.conv(c, 4, (4, 2))), 2)


def padded_in_width() -> tuple[Net, int]:
    net = Net(frames=7, width=3, channels=2)
    y = net.same_quant(net.input, (1, 7, 6, 2))
    widths = net.m.tensor("widths", (4, 2), "s32", data=[[0, 0], [0, 0], [1, 2], [0, 0]])
    net.m.op("PAD", [net.input, widths], [y])
    y = net.conv(net.conv(y, 3, (3, 3)), 4, (2, 2))
    return net, net.dense(net.mean(y), 3)


def two_heads() -> tuple[Net, int]:
    """One tensor read over different times: a ring as long as the furthest."""
    net = Net(frames=9)
    a = net.conv(net.input, 4, (2, 1))
    near = net.mean(net.conv(a, 4, (2, 1)))
    far = net.mean(net.conv(a, 4, (6, 1)))
    return net, net.pointwise("ADD", [near, far])


NETS: dict[str, Callable[[], tuple[Net, int]]] = {
    "dilated": dilated,
    "dilated float": lambda: dilated("f32"),
    "depthwise": depthwise,
    "pooled": pooled,
    "pooled float": lambda: pooled("f32"),
    "residual": residual,
    "joined": joined,
    "padded in width": padded_in_width,
    "two heads": two_heads,
}


def streamed(artifact: Artifact, frames: np.ndarray, resets: Sequence[int], folder: Path) -> list[tuple[bool, bytes]]:
    """The result of push_frame and the output, for every frame; before those in `resets` the stream starts anew."""
    artifact.write(folder / "out")
    c_type = "float" if frames.dtype == np.float32 else "int8_t"
    (folder / "main.c").write_text(MAIN.format(c_type=c_type))
    sources = [folder / "out" / path for path in sources_of(artifact.files)]
    flags = ["-O1", *host_gcc.STRICT_WARNINGS, *host_gcc.SANITIZE]
    program = host_gcc.compile_program([*sources, folder / "main.c"], folder / "stream", [folder / "out"], flags)
    feed = b"".join((b"R" if t in resets else b"F") + frame.tobytes() for t, frame in enumerate(frames))
    done = process.run([program], stdin=feed, timeout_s=60)
    assert done.returncode == 0, done.text
    size = 1 + artifact.view.outputs[0].nbytes
    assert len(done.stdout) == size * len(frames)
    return [(bool(done.stdout[t * size]), done.stdout[t * size + 1 : (t + 1) * size]) for t in range(len(frames))]


def compared(artifact: Artifact, folder: Path, length: int, resets: Sequence[int] = ()) -> int:
    """Every output of a stream against the oracle on the window of that moment; how many were compared."""
    t = artifact.imported.type(artifact.imported.inputs[0])
    rng = np.random.default_rng(3)
    whole = (length, *t.shape[2:])
    frames = rng.standard_normal(whole) if t.is_float else rng.integers(-128, 128, whole)
    frames = frames.astype(t.np_dtype)
    begun, window, count = 0, t.shape[1], 0
    for k, (ready, output) in enumerate(streamed(artifact, frames, resets, folder)):
        begun = k if k in resets else begun
        assert ready == (k - begun + 1 >= window), k
        if not ready:
            continue
        values = interpreter.run(artifact.imported, [frames[None, k + 1 - window : k + 1]], artifact.view.reference)
        wanted = values[artifact.imported.outputs[0]]
        got = np.frombuffer(output, wanted.dtype).reshape(wanted.shape)
        if t.is_float:
            np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * max(1.0, float(np.abs(wanted).max())))
        else:
            np.testing.assert_array_equal(got, wanted, err_msg=f"frame {k}")
        count += 1
    return count


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NETS)
def test_each_output_of_a_stream_is_that_of_its_window(name: str, tmp_path: Path) -> None:
    net, output = NETS[name]()
    artifact = net.compiled(tmp_path, output)
    assert artifact.schedule.streams
    length, broken = 5 * net.frames + 7, 2 * net.frames + 1
    assert compared(artifact, tmp_path, length, [broken]) == length - 2 * (net.frames - 1)


def test_the_counter_of_frames_starts_again_after_the_period(tmp_path: Path) -> None:
    net = Net(frames=9)
    y = net.conv(net.input, 3, (2, 1))
    y = net.conv(y, 3, (3, 1))
    y = net.conv(y, 3, (2, 1))
    artifact = net.compiled(tmp_path, net.dense(net.mean(y), 2))
    rings = {buffer.kept for buffer in artifact.schedule.row_buffers.values()}
    assert rings == {1, 2, 3, 5}
    push = artifact.view.push
    assert push is not None and push.period == math.lcm(*rings) == 30
    assert compared(artifact, tmp_path, 3 * 30 + 11) == 3 * 30 + 11 - 8


def test_the_work_of_a_frame_is_reported(tmp_path: Path) -> None:
    net = Net(frames=12, width=2)
    y = net.conv(net.input, 5, (3, 1))  # 2 pixels of 5, from 3 * 4 each
    y = net.conv(y, 6, (1, 1))  # 2 pixels of 6, from 5
    y = net.conv(y, 0, (4, 2), kind="DEPTHWISE_CONV_2D")  # 1 pixel of 6, from 8
    output = net.conv(y, 3, (7, 1))  # the last rows in one: 3, from 7 * 6
    frame, window = (net.compiled(tmp_path, output, input_mode=mode).report.macs for mode in ("frames", "whole"))
    assert frame == 2 * 5 * 12 + 2 * 6 * 5 + 6 * 8 + 3 * 42
    assert window == 10 * 2 * 5 * 12 + 10 * 2 * 6 * 5 + 7 * 6 * 8 + 3 * 42


def padded_in_time() -> tuple[Net, int]:
    net = Net(frames=8)
    return net, net.mean(net.conv(net.input, 3, (3, 1), padding="SAME"))


def strided_in_time() -> tuple[Net, int]:
    net = Net(frames=9)
    return net, net.mean(net.conv(net.input, 3, (3, 1), stride_h=2))


def rows_as_a_vector() -> tuple[Net, int]:
    net = Net(frames=6)
    return net, net.dense(net.conv(net.input, 3, (3, 1)), 2)


def window_that_leaves_rows_over() -> tuple[Net, int]:
    """One row of output, from the first three rows of five: the newest frame is not in it."""
    net = Net(frames=5)
    return net, net.conv(net.input, 3, (3, 1), stride_h=3)


def scaled_by_all_of_time() -> tuple[Net, int]:
    """Squeeze and excite: a new frame changes the factor of every row, also of those kept."""
    net = Net(frames=6)
    y = net.pointwise("MUL", [net.input, net.mean(net.input)])
    return net, net.mean(net.conv(y, 3, (3, 1)))


def constant_of_each_row() -> tuple[Net, int]:
    """A position encoding: which row of it meets a frame moves with the window."""
    net = Net(frames=6)
    data = net.rng.integers(-128, 128, (1, 6, 1, 4))
    where = net.m.tensor("positions", (1, 6, 1, 4), "s8", scale=0.05, data=data)
    net.shapes[where] = (1, 6, 1, 4)
    return net, net.mean(net.pointwise("ADD", [net.input, where]))


def output_of_several_rows() -> tuple[Net, int]:
    net = Net(frames=6)
    return net, net.conv(net.input, 3, (3, 1))


WHOLE: dict[Callable[[], tuple[Net, int]], str] = {
    padded_in_time: "CONV_2D.* pads in time",
    strided_in_time: "CONV_2D.* has stride 2 in time",
    rows_as_a_vector: "FULLY_CONNECTED mixes rows of different times",
    window_that_leaves_rows_over: "CONV_2D.* does not read the newest",
    scaled_by_all_of_time: "MUL.* depends on the whole window",
    constant_of_each_row: "ADD.* combines each row with another row of a constant",
    output_of_several_rows: "output .* has 4 rows",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", WHOLE, ids=lambda make: make.__name__)
def test_layers_that_do_not_stream_compute_the_whole_window_of_each_frame(
    make: Callable[[], tuple[Net, int]], tmp_path: Path
) -> None:
    net, output = make()
    artifact = net.compiled(tmp_path, output)
    (note,) = [note for note in artifact.report.notes if "each frame computes the whole window" in note]
    assert re.search(WHOLE[make], note)
    length, broken = 2 * net.frames + 5, net.frames + 2
    assert compared(artifact, tmp_path, length, [broken]) == length - 2 * (net.frames - 1)
    assert verify(artifact, list(cases(artifact.imported, 2))).agrees


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_a_flat_input_has_the_frames_of_the_image_that_a_reshape_makes_of_it(padding: str, tmp_path: Path) -> None:
    net = Net(frames=7, width=3, channels=2)
    flat = net.same_quant(net.input, (1, 42))
    net.m.op("RESHAPE", [flat], [net.input], {"new_shape": [1, 7, 3, 2]})
    output = net.mean(net.conv(net.input, 3, (3, 3), padding=padding))
    net.input = flat
    artifact = net.compiled(tmp_path, output)
    push = artifact.view.push
    assert push is not None and (push.rows, push.row_length, push.rolls) == (7, 6, padding == "SAME")
    assert verify(artifact, list(cases(artifact.imported, 3))).agrees


def test_several_inputs_are_refused(tmp_path: Path) -> None:
    net = Net(frames=6)
    other = net.activation((1, 6, 1, 4))
    y = net.mean(net.pointwise("ADD", [net.input, other]))
    path = tmp_path / "net.tflite"
    path.write_bytes(net.m.build([net.input, other], [y]))
    with pytest.raises(UsageError, match="frames needs one input, but the model has 2"):
        mcugen.compile(path, name="net", input_mode="frames")


def test_an_input_of_one_row_is_refused(tmp_path: Path) -> None:
    net = Net(frames=1)
    with pytest.raises(UsageError, match=r"needs an input of several rows, not \[1, 1, 1, 4\]"):
        net.compiled(tmp_path, net.conv(net.input, 3, (1, 1)))
