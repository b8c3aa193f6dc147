# SPDX-License-Identifier: Apache-2.0
"""Cases of the operators that only move elements: pad, reshape, slices, joins, resampling."""

from __future__ import annotations

from tests.models.family import Family


def pad(f: Family) -> None:
    a, b = f.x(1, 3, 4, 2, k=0), f.x(2, 3, 4, k=2)
    f.op("PAD", [a, f.const([[0, 0], [1, 2], [3, 0], [0, 0]])], (1, 6, 7, 2), like=a)
    f.op("PAD", [a, f.const([[0, 0], [0, 0], [0, 0], [0, 3]])], (1, 3, 4, 5), like=a)
    f.op("PAD", [a, f.const([[1, 1], [0, 1], [1, 0], [2, 1]])], (3, 4, 5, 5), like=a)
    f.op("PAD", [b, f.const([[0, 1], [2, 0], [1, 1]])], (3, 5, 6), like=b)


def padv2(f: Family) -> None:
    a, b = f.x(1, 3, 4, 2, k=1), f.x(1, 2, 3, 2, k=2)
    value = -100 if f.dtype == "s8" else 1.5
    f.op(
        "PADV2", [a, f.const([[0, 0], [1, 2], [3, 0], [0, 0]]), f.tensor((), like=a, data=value)], (1, 6, 7, 2), like=a
    )
    f.op(
        "PADV2", [b, f.const([[0, 1], [0, 1], [1, 0], [1, 2]]), f.tensor((1,), like=b, data=[7])], (2, 3, 4, 5), like=b
    )


def reshape(f: Family) -> None:
    a = f.x(1, 3, 4, 2, k=1)
    f.op("RESHAPE", [a, f.const([2, 12])], (2, 12), {"new_shape": [2, 12]}, like=a)
    f.op("RESHAPE", [a, f.const([-1])], (24,), {"new_shape": [-1]}, like=a)
    f.op("RESHAPE", [a, f.const([4, -1, 2])], (4, 3, 2), like=a)
    f.op("RESHAPE", [a], (1, 24), {"new_shape": [1, 24]}, like=a)
    f.op("RESHAPE", [a, f.const([1, 1, 6, 4])], (1, 1, 6, 4), {"new_shape": [9, 9]}, like=a)


def transpose(f: Family) -> None:
    a, b, c = f.x(2, 3, 4, 5, k=0), f.x(3, 2, 4, k=1), f.x(5, 3, k=2)
    f.op("TRANSPOSE", [a, f.const([0, 3, 1, 2])], (2, 5, 3, 4), like=a)
    f.op("TRANSPOSE", [a, f.const([3, 1, 0, 2])], (5, 3, 2, 4), like=a)
    f.op("TRANSPOSE", [a, f.const([0, 1, 2, 3])], (2, 3, 4, 5), like=a)
    f.op("TRANSPOSE", [b, f.const([1, 2, 0])], (2, 4, 3), like=b)
    f.op("TRANSPOSE", [c, f.const([1, 0])], (3, 5), like=c)


def _slice(
    f: Family, x: int, begin: list[int], end: list[int], strides: list[int], shape: list[int], **masks: int
) -> None:
    f.op("STRIDED_SLICE", [x, f.const(begin), f.const(end), f.const(strides)], shape, masks, like=x)


def strided_slice(f: Family) -> None:
    a, b = f.x(2, 5, 6, 3, k=1), f.x(7, 4, k=2)
    _slice(f, a, [0, 1, 0, 0], [2, 4, 6, 3], [1, 1, 1, 1], [2, 3, 6, 3])
    _slice(f, a, [0, 0, 5, 0], [2, 5, 0, 3], [1, 2, -2, 1], [2, 3, 3, 3])
    _slice(f, a, [9, 9, 9, 2], [0, 0, 0, 0], [1, 1, 1, -1], [2, 5, 6, 3], begin_mask=15, end_mask=15)
    _slice(f, a, [0, -2, 1, 0], [1, 5, -1, 3], [1, 1, 2, 1], [1, 2, 2, 3])
    _slice(f, a, [1, 0, 3, 0], [2, 5, 4, 3], [1, 1, 1, 1], [5, 3], shrink_axis_mask=5)
    _slice(f, a, [0, 0, 0, -1], [2, 5, 6, 0], [1, 3, 4, 1], [2, 2, 2], shrink_axis_mask=8)
    _slice(f, b, [-1, 0], [0, 4], [-1, 1], [7, 4], end_mask=1)
    _slice(f, b, [2, 1], [100, 100], [2, 2], [3, 2])


def strided_slice_new_axis(f: Family) -> None:
    a = f.x(2, 5, 3, k=1)
    _slice(f, a, [0, 0, 0], [1, 9, 2], [1, 1, 1], [2, 5, 2], ellipsis_mask=2, begin_mask=1, end_mask=1)
    _slice(f, a, [0, 0, 1, 0], [2, 9, 4, 3], [1, 1, 1, 1], [2, 1, 3, 3], new_axis_mask=2)


def concatenation(f: Family) -> None:
    a, b, c, d = f.x(1, 3, 4, 2, k=1), f.x(1, 3, 4, 5, k=1), f.x(1, 2, 4, 2, k=1), f.x(1, 3, 4, 2, k=1)
    f.op("CONCATENATION", [a, b], (1, 3, 4, 7), {"axis": 3}, like=a)
    f.op("CONCATENATION", [a, c, d], (1, 8, 4, 2), {"axis": 1}, like=a)
    f.op("CONCATENATION", [a, d, a], (1, 3, 12, 2), {"axis": -2}, like=a)
    f.op("CONCATENATION", [f.random((1, 3, 4, 1), like=a), b], (1, 3, 4, 6), {"axis": -1}, like=a)
    f.op("CONCATENATION", [a, d], (2, 3, 4, 2), {"axis": 0}, like=a)


def concatenation_scales(f: Family) -> None:
    a, b, c = f.x(1, 3, 4, 2, k=0), f.x(1, 3, 4, 5, k=1), f.x(1, 3, 4, 1, k=3)
    f.op("CONCATENATION", [a, b, c], (1, 3, 4, 8), {"axis": 3}, k=1)
    f.op("CONCATENATION", [c, c, b], (1, 3, 4, 7), {"axis": 3}, k=3)


def split(f: Family) -> None:
    a, b = f.x(1, 6, 4, 3, k=1), f.x(4, 6, k=2)
    f.op("SPLIT", [f.const(1), a], [(1, 2, 4, 3)] * 3, {"num_splits": 3}, like=a)
    f.op("SPLIT", [f.const(-2), a], [(1, 6, 2, 3)] * 2, {"num_splits": 2}, like=a)
    f.op("SPLIT", [f.const(3), a], [(1, 6, 4, 1)] * 3, {"num_splits": 3}, like=a)
    f.op("SPLIT", [f.const(0), b], [(1, 6)] * 4, {"num_splits": 4}, like=b)


def pack(f: Family) -> None:
    a, b = f.x(2, 3, 4, k=1), f.x(2, 3, 4, k=1)
    f.op("PACK", [a, b], (2, 2, 3, 4), {"axis": 0, "values_count": 2}, like=a)
    f.op("PACK", [a, b, a], (2, 3, 3, 4), {"axis": 1, "values_count": 3}, like=a)
    f.op("PACK", [b, f.random((2, 3, 4), like=a)], (2, 3, 4, 2), {"axis": -1, "values_count": 2}, like=a)


def unpack(f: Family) -> None:
    a = f.x(2, 3, 4, k=1)
    f.op("UNPACK", [a], [(3, 4)] * 2, {"axis": 0, "num": 2}, like=a)
    f.op("UNPACK", [a], [(2, 4)] * 3, {"axis": 1, "num": 3}, like=a)
    f.op("UNPACK", [a], [(2, 3)] * 4, {"axis": -1, "num": 4}, like=a)


def gather(f: Family) -> None:
    a = f.x(3, 4, 5, k=1)
    index = f.x(2, 3, dtype="s32", name="index_below_4")
    f.op("GATHER", [a, f.const([2, 0, 0, 1])], (4, 4, 5), {"axis": 0}, like=a)
    f.op("GATHER", [a, index], (3, 2, 3, 5), {"axis": 1}, like=a)
    f.op("GATHER", [a, f.const(4)], (3, 4), {"axis": -1}, like=a)
    f.op("GATHER", [a, f.const([[0, 1], [3, 3], [2, 0]])], (3, 2, 5), {"axis": 1, "batch_dims": 1}, like=a)
    f.op("GATHER", [f.random((4, 2), k=2), index], (2, 3, 2), {"axis": 0}, k=2)


def resize_nearest_neighbor(f: Family) -> None:
    a, b = f.x(1, 3, 4, 2, k=1), f.x(2, 5, 3, 1, k=2)
    for x, size in ((a, (6, 8)), (a, (5, 7)), (a, (2, 3)), (b, (7, 2)), (b, (10, 1))):
        n, _, _, c = f.info[x].shape
        for corners, centers in ((False, False), (True, False), (False, True)):
            options = {"align_corners": corners, "half_pixel_centers": centers}
            f.op("RESIZE_NEAREST_NEIGHBOR", [x, f.const(size)], (n, *size, c), options, like=x)


_ALL = {
    "pad": ("s8 s16 f32", pad),
    "padv2": ("s8 f32", padv2),
    "reshape": ("s8 s16 u8 f32", reshape),
    "transpose": ("s8 f32", transpose),
    "strided_slice": ("s8 s16 f32", strided_slice),
    "strided_slice_new_axis": ("s8", strided_slice_new_axis),
    "concatenation": ("s8 u8 f32", concatenation),
    "concatenation_scales": ("u8", concatenation_scales),
    "split": ("s8 f32", split),
    "pack": ("s8 f32", pack),
    "unpack": ("s8 f32", unpack),
    "gather": ("s8 f32", gather),
    "resize_nearest_neighbor": ("s8 f32", resize_nearest_neighbor),
}
FAMILIES = [(dtype, op, cases) for op, (dtypes, cases) in _ALL.items() for dtype in dtypes.split()]
