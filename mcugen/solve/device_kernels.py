"""Tiles of OpenCL kernels, and the time of a launch: from a tuned table, or else by the roofline model."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcugen.boards.machine import Device
from mcugen.boards.target import Target, load, names
from mcugen.errors import UsageError
from mcugen.ir.call import Call
from mcugen.ir.kernel import Grid, Kernel, NDRange, Tile
from mcugen.kernels import halves

TABLE = "tuned.json"
"""File beside a device's board.toml with the measurements of `mcugen tune`."""
GROUPS_TO_FILL = 2
"""Work-groups per compute unit that keep a device busy."""
HOST_NS = 1e12
"""Nanoseconds added to a step on the host, so that it runs there only if no kernel of the device can run it."""

BOARDS = "opencl-"
"""Prefix of the names of device boards that ship with mcugen."""
NEAR = 10.0
"""Largest distance at which one device's table is used for another."""
OTHER_MAKER, OTHER_MEMORY = 4.0, 4.0
"""Distance added for another vendor, and for memory that only one of the two devices shares with its host."""


@dataclass(frozen=True)
class Tuned:
    """A measured launch: its kernel and tile, and seconds."""

    symbol: str
    tile: tuple[tuple[str, int], ...]
    seconds: float


_BEST_NS = 1.0
"""Most nanoseconds reported for the best measured launch, so that it ranks before all estimates."""


def key_of(call: Call) -> str:
    """Key of a call in a table: its operator with its attributes, and the shapes of operands and results."""
    shapes = ", ".join("-" if t is None else f"{t.dtype}{list(t.shape)}" for t in call.inputs)
    return f"{call.op} on {shapes} to {call.output.dtype}{list(call.output.shape)}"


@functools.cache
def table_of(folder: Path) -> Mapping[str, Tuned]:
    """Key -> the best launch measured; empty without measurements. Raises UsageError for a damaged file."""
    path = folder / TABLE
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["entries"]
        return {
            key: Tuned(str(e["kernel"]), tuple((str(n), int(v)) for n, v in e["tile"].items()), float(e["seconds"]))
            for key, e in entries.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path.name} is not a table of mcugen tune: {error}", where=str(path), hint="run mcugen tune again"
        ) from error


def tuned_of(call: Call, target: Target) -> tuple[Tuned | None, str]:
    """The measurement for a call, if there is one, and the board of the table: the target, or the nearest board with a
    table.
    """
    own = table_of(target.folder)
    near = "" if own or target.device is None else nearest(target.device)
    if not near:
        return own.get(key_of(call)), target.name
    return table_of(load(near).folder).get(key_of(call)), near


@functools.cache
def nearest(device: Device) -> str:
    """Name of the shipped board with a table that is most like a device; "" if none is near."""
    known = [load(name) for name in names() if name.startswith(BOARDS)]
    far = {t.name: distance(device, t.device) for t in known if t.device and table_of(t.folder)}
    best = min(far, key=lambda name: far[name], default="")
    return best if best and far[best] <= NEAR else ""


def distance(a: Device, b: Device) -> float:
    """Distance of two devices: the sum of |log2| of the ratios of their figures, plus constants if the vendor or the
    kind of memory differs.
    """
    figures = ((d.compute_units, d.flops, d.bandwidth, max(d.local_bytes, 1), d.max_group) for d in (a, b))
    doubled = sum(abs(math.log2(x / y)) for x, y in zip(*figures, strict=True))
    return doubled + OTHER_MAKER * (not a.vendor or a.vendor != b.vendor) + OTHER_MEMORY * (a.unified != b.unified)


def device_of(target: Target) -> Device:
    assert target.device is not None
    return target.device


def tiled(call: Call, fitting: Sequence[Kernel], target: Target) -> list[Kernel]:
    """The device kernels of `fitting`, each with its best tile, the fastest first. Kernels without a legal tile are
    left out.
    """
    found = [_best(call, kernel, target) for kernel in fitting if isinstance(kernel.form, Grid)]
    legal = [kernel for kernel in found if kernel is not None]
    return sorted(legal, key=lambda kernel: nanoseconds(kernel, call, target))


def _best(call: Call, kernel: Kernel, target: Target) -> Kernel | None:
    candidates = list(launches(call, kernel, device_of(target)))
    return min(candidates, key=lambda k: nanoseconds(k, call, target), default=None)


def launches(call: Call, kernel: Kernel, device: Device) -> Iterator[Kernel]:
    """The kernel with each tile that the device can launch."""
    tiles: Sequence[Tile] = kernel.grid.tiles(call) if kernel.grid.tiles else ({},)
    for tile in tiles:
        made = _tiled(kernel, tuple(tile.items())) if tile else kernel
        if is_legal(made.launch(call), device):
            yield made


@functools.cache
def _tiled(kernel: Kernel, tile: tuple[tuple[str, int], ...]) -> Kernel:
    """The kernel with a tile; cached, so that calls with equal kernels share one object and its results."""
    return kernel.tiled(dict(tile))


def is_legal(grid: NDRange, device: Device) -> bool:
    """Whether a work-group fits the device."""
    return grid.group_items <= device.max_group and grid.local_bytes <= device.local_bytes


def nanoseconds(kernel: Kernel, call: Call, target: Target) -> float:
    """Time of a launch, measured or by the roofline model.

    A measured kernel gets at most `_BEST_NS`, so that it is preferred to all other kernels of its call.
    """
    tuned, _ = tuned_of(call, target)
    if tuned and (tuned.symbol, tuned.tile) == (kernel.symbol, kernel.grid.tile):
        return min(1e9 * tuned.seconds, _BEST_NS)
    return 1e9 * roofline(kernel.launch(call), call, device_of(target), kernel)


def roofline(grid: NDRange, call: Call, device: Device, kernel: Kernel | None = None) -> float:
    """Seconds of a launch by the device's profile: the longer of arithmetic, at the share of the device that is busy,
    and memory traffic; plus the launch.
    """
    groups = math.prod(-(-items // group) for items, group in zip(grid.items, grid.group or grid.items, strict=True))
    room = device.compute_units * GROUPS_TO_FILL
    filled = min(1.0, groups / room) if grid.group else 1.0
    waves = -(-groups // room) * room / groups if grid.group and groups > room else 1.0
    macs: int = call.op.macs(call)
    compute = 2.0 * macs * grid.effort * waves / (device.flops * max(filled, 1e-6))
    split = kernel.scratch(call) if kernel and kernel.scratch else 0
    return max(compute, (bytes_moved(call) + 2.0 * split) / device.bandwidth) + device.launch_s


def bytes_moved(call: Call) -> int:
    """Bytes of all operands and results, each counted once. float32 operands count half if the call stores them as
    float16.
    """
    moved = sum(t.nbytes for t in (*call.inputs, *call.outputs) if t is not None)
    halved = halves.stores_halves(call)
    return moved - sum(t.nbytes // 2 for t in call.inputs if t is not None and halved and t.dtype == "f32")


def reason(kernel: Kernel, call: Call, target: Target) -> str:
    """Why a device's kernel was chosen, for the report: its tile, and its time, measured or by the profile."""
    tile = " ".join(f"{name} {value}" for name, value in kernel.grid.tile)
    tuned, whose = tuned_of(call, target)
    known = tuned is not None and (tuned.symbol, tuned.tile) == (kernel.symbol, kernel.grid.tile)
    if tuned and known and whose == target.name:
        how = f"{1e6 * tuned.seconds:.3g} us measured"
    else:
        how = _by_roofline(kernel, call, device_of(target))
        how += f"; the fastest of {whose}, the nearest device with a table" if known else ""
    return f"{how}{'; ' + tile if tile else ''}"


def _by_roofline(kernel: Kernel, call: Call, device: Device) -> str:
    """Text with the time by the roofline model, and whether memory, arithmetic or the launch limits it."""
    seconds = roofline(kernel.launch(call), call, device, kernel)
    moved = bytes_moved(call) / device.bandwidth
    work = seconds - device.launch_s
    bound = "its launch" if work < device.launch_s else "memory" if moved >= 0.99 * work else "arithmetic"
    return f"{1e6 * seconds:.3g} us by the roofline of its profile, bound by {bound}, not measured"
