# SPDX-License-Identifier: Apache-2.0
"""Writes small NNEF models: texts, .dat files, folders and archives."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

Files = dict[str, bytes]
_ITEMS = {"f": 0, "u": 2, "i": 3}


def dat(data: np.ndarray) -> bytes:
    """A tensor file; integers are quantized ones."""
    head = struct.pack("<2B2B2I8I", 0x4E, 0xEF, 1, 0, data.nbytes, data.ndim, *data.shape, *(0,) * (8 - data.ndim))
    item = struct.pack("<2I", 8 * data.itemsize, _ITEMS[data.dtype.kind])
    return (head + item).ljust(128, b"\0") + data.tobytes()


def text(body: str, shape: tuple[int, ...] = (1, 2, 6, 6), extension: str = "", fragments: str = "") -> str:
    """A graph of one input x and one output y."""
    head = f"version 1.0;\n{extension}\n{fragments}\n"
    return f"{head}graph net(x) -> (y)\n{{\n    x = external<scalar>(shape = {list(shape)});\n    {body}\n}}\n"


def model(body: str, tensors: Mapping[str, np.ndarray] = {}, quant: str = "", **of_text: object) -> Files:
    """The files of a model; tensors: the variables by their labels, which the body reads by the same names."""
    variables = "".join(
        f"{n} = variable<scalar>(shape = {list(a.shape)}, label = '{n}');\n    " for n, a in tensors.items()
    )
    files = {"graph.nnef": text(variables + body, **of_text).encode()}  # type: ignore[arg-type]
    files |= {f"{name}.dat": dat(array) for name, array in tensors.items()}
    return files | ({"graph.quant": quant.encode()} if quant else {})


def small(seed: int = 1) -> Files:
    """A quantized network: a convolution, a pool and a linear layer."""
    rng = np.random.default_rng(seed)
    steps = {"x": (0.02, 3), "w": (0.01, 0), "a": (0.05, -128), "p": (0.05, -128), "r": (0.05, -128), "y": (0.1, 5)}
    steps |= {"m": (0.02, 0)}
    form = '"{}": zero_point_linear_quantize(zero_point = {}, scale = {}, bits = 8, signed = true, symmetric = false);'
    quant = "\n".join(form.format(name, zero, scale) for name, (scale, zero) in steps.items())
    body = """a = conv(x, w, b, padding = []);
    p = max_pool(a, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], border = 'ignore');
    r = reshape(p, shape = [0, -1]);
    y = linear(r, m);"""
    tensors = {
        "w": rng.integers(-127, 128, (3, 2, 3, 3)).astype(np.int8),
        "b": rng.normal(0, 0.5, (1, 3)).astype(np.float32),
        "m": rng.integers(-127, 128, (4, 27)).astype(np.int8),
    }
    return model(body, tensors, quant)


def write(files: Files, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def tar(files: Files, mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(files: Files, kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()
