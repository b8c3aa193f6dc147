"""`mcugen gemm`: times matrix products on an OpenCL device, with the kernels and tiles that models use."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcugen.boards.target import Target
from mcugen.errors import UsageError
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.machines.toolchain import opencl
from mcugen.opencl_bench import tuning
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.fully_connected import FullyConnected
from mcugen.solve import device_kernels
from mcugen.solve.schedule import Choice
from mcugen.system import tabular

ROW_S = "0.02"
"""Seconds of a series of launches; five series are timed."""
TOLERANCE = 1e-5
"""Largest error ||y - r|| / ||r|| of a product y, with r computed in float64."""
MOST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Product:
    """A product to time. label: its name; operands: the operands that are not constant; expected: float64 result."""

    label: str
    node: Node
    call: Call
    operands: tuple[np.ndarray, ...]
    expected: np.ndarray


def sizes_of(texts: Sequence[str]) -> list[tuple[int, ...]]:
    """Sizes as ROWSxCOLUMNSxTAPS, or TAPSxOUTPUTS for a matrix times one vector. Raises UsageError for others."""
    found = []
    for text in texts:
        parts = text.lower().split("x")
        if len(parts) not in (2, 3) or not all(part.isdecimal() and 0 < int(part) <= MOST for part in parts):
            hint = "give sizes such as 1024x1024x1024, or 4096x1000 for a vector"
            raise UsageError(f"{text!r} is no size", where="--size", hint=hint)
        found.append(tuple(int(part) for part in parts))
    return found


def products(size: Sequence[int]) -> Iterator[Product]:
    """The product of two matrices, with each or none transposed; or of a vector and a matrix: with constant weights,
    with a computed matrix, and with this transposed.
    """
    rng = np.random.default_rng(1)
    rows, cols, depth = size if len(size) == 3 else (1, size[1], size[0])
    a, b = (rng.random(shape, np.float32) - np.float32(0.5) for shape in ((rows, depth), (depth, cols)))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    if len(size) == 2:
        yield _product("dense", FullyConnected(), (a,), expected, np.ascontiguousarray(b.T))
        yield _product("xA", BatchMatmul(), (a, b), expected)
        yield _product("xA'", BatchMatmul(transpose_b=True), (a, np.ascontiguousarray(b.T)), expected)
        return
    for letters in ("NN", "NT", "TN", "TT"):
        op = BatchMatmul(transpose_a=letters[0] == "T", transpose_b=letters[1] == "T")
        operands = (np.ascontiguousarray(x.T) if t == "T" else x for x, t in zip((a, b), letters, strict=True))
        yield _product(letters, op, tuple(operands), expected)


def _product(
    label: str, op: Op, operands: tuple[np.ndarray, ...], expected: np.ndarray, weights: np.ndarray | None = None
) -> Product:
    given = {f"in{k}": array for k, array in enumerate(operands)}
    tensors = {name: Tensor(name, TensorType(array.shape, "f32"), None, name) for name, array in given.items()}
    if weights is not None:
        tensors["w"] = Tensor("w", TensorType(weights.shape, "f32"), weights)
    node = Node("y", op, tuple(tensors), ("y",), label)
    tensors["y"] = Tensor("y", TensorType(expected.shape, "f32"), None, "y")
    graph = verify(Graph("gemm", tensors, (node,), tuple(given), ("y",), format="tflite"), "gemm")
    return Product(label, node, graph.call(node, "tflm"), operands, expected)


def bench(
    sizes: Sequence[Sequence[int]], target: Target, progress: Callable[[str], None], table: Path | None = None
) -> dict[str, Any]:
    """Times of the products of each size, checked against NumPy. table: a tuning table; missing entries are measured
    and added first.
    """
    if target.device is None:
        hint = "give a board that is one; `mcugen boards` lists all"
        raise UsageError(f"{target.name} is no OpenCL device", where="--board", hint=hint)
    rows: list[dict[str, Any]] = []
    device = ""
    for size in sizes:
        text = "x".join(map(str, size))
        progress(f"operands of {text}")
        found = list(products(size))
        if table:
            tuning.measure({device_kernels.key_of(p.call): _worth(p, target) for p in found}, table, progress)
            device_kernels.table_of.cache_clear()
        progress(f"timing {text}")
        device, measured = _timed(found, target)
        rows += [{"size": text, **row} for row in measured]
    profile = device_kernels.device_of(target)
    return {
        "device": device,
        "board": target.name,
        "peak_flops_per_s": profile.flops,
        "peak_bytes_per_s": profile.bandwidth,
        "peak_is_measured": profile.measured,
        "products": rows,
    }


def _worth(product: Product, target: Target) -> list[Choice]:
    return [Choice(product.node, product.call, kernel, "") for kernel in tuning.worth(product.call, target)]


def _timed(found: Sequence[Product], target: Target) -> tuple[str, list[dict[str, Any]]]:
    """The device's name, and the measurements of each product."""
    choices = [_choice(product, target) for product in found]
    with tempfile.TemporaryDirectory(prefix="mcugen-") as place:
        folder = Path(place)
        tuning.written([(p.label, [c]) for p, c in zip(found, choices, strict=True)], folder)
        program = folder / opencl.PROGRAM
        device = opencl.run(program, ["name"]).decode(errors="replace").strip()
        errors = _errors(program, found)
        seconds = [float(s) for s in opencl.run(program, ["time", ROW_S, "0", str(len(found))]).split()]
    made = zip(found, choices, seconds, errors, strict=True)
    return device, [_row(p, c, s, e, target) for p, c, s, e in made]


def _choice(product: Product, target: Target) -> Choice:
    """The launch that a model for this board would use."""
    known = device_kernels.tiled(product.call, tuning.fitting(product.call, target), target)
    if not known:
        raise UsageError(f"no kernel of {target.name} computes {product.label}")
    return Choice(product.node, product.call, known[0], device_kernels.reason(known[0], product.call, target))


def _errors(program: Path, found: Sequence[Product]) -> list[float]:
    """||y - r|| / ||r|| of each product, all from one run of the program."""
    given = b"".join(array.tobytes() for product in found for array in product.operands)
    output = np.frombuffer(opencl.run(program, ["check"], given), np.float32)
    errors, at = [], 0
    for product in found:
        expected = product.expected.reshape(-1)
        got = output[at : at + expected.size].astype(np.float64)
        at += expected.size
        errors.append(float(np.linalg.norm(got - expected)) / max(float(np.linalg.norm(expected)), 1e-30))
    return errors


def _row(product: Product, choice: Choice, seconds: float, error: float, target: Target) -> dict[str, Any]:
    profile, call = device_kernels.device_of(target), product.call
    flops, moved = 2.0 * call.op.macs(call), device_kernels.bytes_moved(call)
    return {
        "product": product.label,
        "kernel": choice.kernel.symbol,
        "tile": dict(choice.kernel.grid.tile),
        "chosen": choice.why,
        "seconds": seconds,
        "flops_per_s": flops / seconds,
        "bytes_per_s": moved / seconds,
        "share_of_flops": flops / seconds / profile.flops,
        "share_of_bandwidth": moved / seconds / profile.bandwidth,
        "error": error,
        "right": error <= TOLERANCE,
    }


def as_parts(facts: dict[str, Any]) -> tabular.Parts:
    """The results as text."""
    rows = facts["products"]
    wrong = [f"{row['size']} {row['product']}" for row in rows if not row["right"]]
    verdict = f"wrong: {', '.join(wrong)}" if wrong else f"{len(rows)} products agree with NumPy"
    peak = f"{facts['peak_flops_per_s'] / 1e9:,.0f} GFLOP/s and {facts['peak_bytes_per_s'] / 1e9:,.0f} GB/s"
    how = "measured" if facts["peak_is_measured"] else "not measured"
    columns = (
        tabular.TableColumn("size"),
        tabular.TableColumn("product"),
        tabular.TableColumn("ms", right=True),
        tabular.TableColumn("GFLOP/s", right=True),
        tabular.TableColumn("of peak", right=True),
        tabular.TableColumn("GB/s", right=True),
        tabular.TableColumn("of peak", right=True),
        tabular.TableColumn("error", right=True),
        tabular.TableColumn("kernel", optional=True),
        tabular.TableColumn("tile", shrinks=True, optional=True),
    )
    return [
        f"{verdict}, on {facts['device']}",
        f"peak by the profile {facts['board']} ({how}): {peak}",
        "",
        tabular.TextTable(columns, tuple(_cells(row) for row in rows)),
    ]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    tile = " ".join(f"{name} {value}" for name, value in row["tile"].items())
    work = (f"{row['flops_per_s'] / 1e9:,.1f}", f"{row['share_of_flops']:.1%}")
    moved = (f"{row['bytes_per_s'] / 1e9:,.1f}", f"{row['share_of_bandwidth']:.1%}")
    return (
        row["size"],
        row["product"],
        f"{1e3 * row['seconds']:.3f}",
        *work,
        *moved,
        f"{row['error']:.1e}",
        row["kernel"],
        tile,
    )
