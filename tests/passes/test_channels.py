# SPDX-License-Identifier: Apache-2.0
"""Channels that go: the bits of all others stay, what was called constant is, and nothing goes that must not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcugen import passes
from mcugen.errors import InternalError
from mcugen.ir.graph import UNREAD_NODE, Origin, verify_origins, with_origins
from mcugen.ops.fully_connected import FullyConnected
from tests.passes.net import SCALE, Net, differences, kept, read, simplified
from tests.rows.graphs import planted_graph

GRAPHS = 48
AT_ONCE = 6


@pytest.mark.sampled(3)
@pytest.mark.parametrize("first", range(0, GRAPHS, AT_ONCE))
def test_what_stays_keeps_its_bits(first: int, tmp_path: Path) -> None:
    removed: Counter[str] = Counter()
    for seed in range(first, first + AT_ONCE):
        before = read(planted_graph(seed).data, tmp_path)
        which = ("tflm", "litert")[seed % 2]
        after = passes.run(before, which)
        assert differences(before, after, which) == [], seed
        for item in after.removed:
            removed[item.what] += 1
    assert min(removed["constant channels"], removed["unread channels"]) > 0, removed


def test_a_fixed_channel_goes_into_the_bias_where_no_tap_leaves_the_image(tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [7, 55, -9], fixed={1})
    y = net.conv(a, [1, 2], size=2)
    after = simplified(net.build(y), tmp_path)
    assert kept(after, a) == (0, 2)
    assert [o.constant for t in after.tensors.values() if (o := t.origin) and o.tensor == f"t{a}"] == [((1, 1),)]
    assert [(r.what, r.channels) for r in after.removed] == [("constant channels", 1)]


def test_a_fixed_channel_gives_a_bias_to_a_layer_without_one(tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [7, 500, -9], fixed={1})
    weights = net.weights((2, 1, 1, 3), 0, {})[1]
    y = net.op("CONV_2D", [a, weights], (1, 4, 4, 2), padding="SAME", stride_h=1, stride_w=1)
    after = simplified(net.build(y), tmp_path)
    assert kept(after, a) == (0, 2)
    assert [len(node.inputs) for node in after.nodes] == [3, 3]


@pytest.mark.parametrize(
    ("bias", "zero", "goes"), [(0, 0, True), (0, 5, True), (500, 0, False), (-(10**6), -128, True)]
)
def test_under_padding_it_goes_only_at_the_zero_point(bias: int, zero: int, goes: bool, tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [7, bias, -9], fixed={1}, zero=zero)
    y = net.conv(a, [1, 2], size=3, padding="SAME")
    assert kept(simplified(net.build(y), tmp_path), a) == ((0, 2) if goes else None)


def test_a_padded_depthwise_channel_is_fixed_only_if_its_border_is(tmp_path: Path) -> None:
    """Weights other than zero on a fixed channel make another value at the border; zero weights do not."""
    for zeros, expected in (({1}, (0, 2)), (set(), None)):
        net = Net()
        a = net.conv(net.x, [7, 500, -9], fixed={1})
        b = net.depthwise(a, [0, 0, 0], 3, "SAME", zeros)
        y = net.conv(b, [1, 2])
        after = simplified(net.build(y), tmp_path)
        assert (kept(after, a), kept(after, b)) == (expected, expected)


def test_an_unread_channel_goes_through_layers_that_keep_channels_apart(tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [7, 8, 9])
    b = net.depthwise(a, [1, 2, 3], 3, "SAME", set())
    c = net.op(
        "MAX_POOL_2D", [b], (1, 2, 2, 3), padding="SAME", stride_h=2, stride_w=2, filter_height=2, filter_width=2
    )
    y = net.conv(c, [1, 2], unread={2}, size=2, padding="SAME")
    after = simplified(net.build(y), tmp_path)
    assert [kept(after, t) for t in (a, b, c)] == [(0, 1)] * 3
    assert {r.what for r in after.removed} == {"unread channels"}


def test_inputs_and_outputs_keep_all(tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [7, 55, -9], fixed={1}, unread={0})
    y = net.conv(a, [1, 2])
    after = simplified(net.build(a, y), tmp_path)
    assert [kept(after, t) for t in (net.x, a, y)] == [None] * 3
    assert after.removed == ()


def test_what_one_reader_needs_stays_for_all(tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [7, 500, -9], fixed={1})
    y, z = net.conv(a, [1, 2]), net.conv(a, [1, 2], size=3, padding="SAME")
    assert kept(simplified(net.build(y, z), tmp_path), a) is None


def test_a_sum_loses_only_what_both_operands_lose(tmp_path: Path) -> None:
    for second, expected in (({1}, (0, 2)), (set(), None)):
        net = Net()
        a, b = net.conv(net.x, [7, 55, -9], fixed={1}), net.conv(net.x, [7, 60, -9], fixed=second)
        c = net.op("ADD", [a, b], (1, 4, 4, 3))
        y = net.conv(c, [1, 2])
        after = simplified(net.build(y), tmp_path)
        assert [kept(after, t) for t in (a, b, c)] == [expected] * 3


def test_constant_operands_are_cut_to_what_stays(tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [7, 8, 9])
    vector = net.m.tensor("v", (3,), "s8", scale=SCALE, zero_point=0, data=np.array([5, 6, 7]))
    b = net.op("MUL", [a, vector], (1, 4, 4, 3))
    y = net.conv(b, [1, 2], unread={0})
    after = simplified(net.build(y), tmp_path)
    assert [kept(after, t) for t in (a, b)] == [(1, 2)] * 2


def test_a_flattened_channel_goes_only_with_all_its_pixels(tmp_path: Path) -> None:
    for columns, expected in (({1, 4, 7, 10}, (0, 2)), ({1, 4, 7}, None)):
        net = Net(size=2)
        a = net.conv(net.x, [7, 8, 9])
        flat = net.m.tensor("s", (2,), "s32", data=np.array([1, 12]))
        b = net.op("RESHAPE", [a, flat], (1, 12), new_shape=[1, 12])
        y = net.dense(b, 2, columns)
        after = simplified(net.build(y), tmp_path)
        assert kept(after, a) == expected
        (dense,) = [node for node in after.nodes if isinstance(node.op, FullyConnected)]
        assert after.type(str(dense.inputs[1])).shape == (2, 8 if expected else 12)


def test_an_implicitly_flattened_channel_goes_too(tmp_path: Path) -> None:
    net = Net(size=2)
    a = net.conv(net.x, [7, 400, 9], fixed={1})
    y = net.dense(a, 2, {2, 5, 8, 11})
    assert kept(simplified(net.build(y), tmp_path), a) == (0,)


def test_joined_channels_go_with_their_place(tmp_path: Path) -> None:
    net = Net()
    a, b = net.conv(net.x, [7, 8, 9]), net.conv(net.x, [1, 90], fixed={1})
    c = net.op("CONCATENATION", [a, b], (1, 4, 4, 5), axis=3)
    y = net.conv(c, [1, 2], unread={0})
    after = simplified(net.build(y), tmp_path)
    assert [kept(after, t) for t in (a, b, c)] == [(1, 2), (0,), (1, 2, 3)]


def test_padded_channels_go_or_stay_with_their_readers(tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [7, 8, 9])
    widths = net.m.tensor("p", (4, 2), "s32", data=np.array([[0, 0], [1, 0], [0, 1], [2, 1]]))
    b = net.op("PAD", [a, widths], (1, 5, 5, 6))
    y = net.conv(b, [1, 2], unread={0, 3})
    after = simplified(net.build(y), tmp_path)
    assert (kept(after, a), kept(after, b)) == ((0, 2), (2, 4))


def test_one_channel_always_stays(tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [70, 80, 90], fixed={0, 1, 2})
    y = net.conv(a, [1, 2])
    assert kept(simplified(net.build(y), tmp_path), a) == (0,)


@pytest.mark.parametrize(("fixed", "stay"), [(2, None), (5, (0, 5, 6, 7)), (8, (0, 1, 2, 3))])
def test_devices_keep_channels_in_fours(fixed: int, stay: tuple[int, ...] | None, tmp_path: Path) -> None:
    """Their kernels read four at a time only where there are no others."""
    net = Net()
    a = net.conv(net.x, list(range(50, 58)), fixed=set(range(fixed)))
    y = net.conv(a, [1, 2])
    before = read(net.build(y), tmp_path)
    after = passes.run(before, "tflm", frozenset({"cl12"}))
    assert kept(after, a) == stay
    assert differences(before, after, "tflm") == []


def test_groups_keep_all(tmp_path: Path) -> None:
    net = Net(channels=4)
    a = net.conv(net.x, [7, 55, -9, 1], fixed={1})
    y = net.conv(a, [1, 2], unread={0}, groups=2)
    assert kept(simplified(net.build(y), tmp_path), a) is None


def test_a_sum_that_may_wrap_is_not_fixed(tmp_path: Path) -> None:
    """The bias alone is far above the clamp, but the largest sum wraps to the other end."""
    for bias, expected in ((2**30, (0, 2)), (2**31 - 100, None)):
        net = Net()
        a = net.conv(net.x, [7, bias, -9])
        y = net.conv(a, [1, 2])
        assert kept(simplified(net.build(y), tmp_path), a) == expected


def test_wide_sums_lose_unread_channels_but_no_fixed_ones(tmp_path: Path) -> None:
    net = Net(dtype="s16")
    a = net.conv(net.x, [7, 55, -9, 8], fixed={1})
    y = net.conv(a, [1, 2], unread={2})
    assert kept(simplified(net.build(y), tmp_path), a) == (0, 1, 3)


def test_floats_keep_all(tmp_path: Path) -> None:
    """Zero times infinity is not zero."""
    net = Net(dtype="f32")
    a = net.conv(net.x, [7, 55, -9], fixed={1})
    y = net.conv(a, [1, 2], unread={0})
    after = simplified(net.build(y), tmp_path)
    assert kept(after, a) is None and after.removed == ()


def test_a_result_that_nothing_reads_goes_with_what_only_it_needs(tmp_path: Path) -> None:
    net = Net()
    y = net.conv(net.x, [1, 2])
    net.conv(net.conv(net.x, [1, 2, 3]), [4])
    after = simplified(net.build(y), tmp_path)
    assert len(after.nodes) == 1
    assert {r.what for r in after.removed} == {UNREAD_NODE}


def test_everything_stays_on_request(tmp_path: Path) -> None:
    net = Net()
    a = net.conv(net.x, [7, 55, -9], fixed={1})
    y = net.conv(a, [1, 2])
    net.conv(net.x, [4])
    after = passes.run(read(net.build(y), tmp_path), "tflm", simplify=False)
    assert kept(after, a) is None and len(after.nodes) == 3 and after.removed == ()


def test_a_pass_that_leaves_out_the_origin_is_refused(tmp_path: Path) -> None:
    net = Net()
    imported = read(net.build(net.conv(net.x, [1, 2])), tmp_path)
    ready = with_origins(imported)
    bare = replace(ready.tensors[ready.outputs[0]], origin=None)
    with pytest.raises(InternalError, match="does not state which imported tensor"):
        verify_origins(ready.updated(tensors=[bare]), imported, "pass careless")
    wrong = replace(bare, origin=Origin(bare.name, kept=(0,)))
    with pytest.raises(InternalError, match="differs in size from"):
        verify_origins(ready.updated(tensors=[wrong]), imported, "pass careless")
