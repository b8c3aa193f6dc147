# SPDX-License-Identifier: Apache-2.0
"""Samples from .npz and .npy files: which array is which input, what fits, and what is refused with which words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen.samples import Samples, load
from mcugen.samples.labels import Ragged
from tests.samples.sample_files import IMAGE, graph, images, refused, saved


def test_the_only_array_is_the_only_input(tmp_path: Path) -> None:
    found = load(saved(tmp_path, whatever=images()), graph())
    assert (found.count, found.labels, found.notes) == (5, None, ())
    assert np.array_equal(found.arrays[0], images()[:, None])
    assert found.arrays[0].dtype == np.float32


def test_samples_may_keep_the_batch_axis(tmp_path: Path) -> None:
    path = saved(tmp_path, image=images()[:, None])
    assert load(path, graph()).arrays[0].shape == (5, *IMAGE)


def test_an_npy_is_the_only_input(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.asfortranarray(images()))
    found = load(tmp_path / "x.npy", graph())
    assert np.array_equal(found.arrays[0], images()[:, None])


def test_the_hash_is_of_names_shapes_and_bytes_used(tmp_path: Path) -> None:
    plain = load(saved(tmp_path, image=images()), graph())
    np.save(tmp_path / "x.npy", images(9)[:5])
    assert load(tmp_path / "x.npy", graph()).sha256 == plain.sha256
    assert load(saved(tmp_path, image=images().astype(np.float64)), graph()).sha256 == plain.sha256
    changed = images()
    changed[4, 0, 0, 0] += 1
    others = [
        load(saved(tmp_path, image=changed), graph()),
        load(saved(tmp_path, image=images()), graph(), limit=4),
        load(saved(tmp_path, image=images()), graph(("other", IMAGE))),
    ]
    assert len({plain.sha256, *(found.sha256 for found in others)}) == 4


def test_inputs_are_found_by_label_own_name_and_short_label(tmp_path: Path) -> None:
    net = graph(("serving_default_a:0", (1, 2)), ("b/c", (1, 3)), ("d", (1, 4)))
    a, b, d = images(4, (2,)), images(4, (3,)), images(4, (4,))
    path = saved(tmp_path, **{"d": d, "b/c": b, "a": a})
    found = load(path, net)
    assert [np.array_equal(x, y[:, None]) for x, y in zip(found.arrays, (a, b, d), strict=True)] == [True] * 3
    assert load(saved(tmp_path, t2=d, t1=b, t0=a), net).sha256 == found.sha256


@pytest.mark.parametrize(("test", "wanted"), [(False, 0), (True, 1)])
def test_train_and_test_parts_of_one_file(tmp_path: Path, test: bool, wanted: int) -> None:
    parts = {"x_train": images(6), "y_train": np.arange(6), "x_test": images(7), "y_test": np.arange(7)}
    found = load(saved(tmp_path, **parts), graph(), with_labels=test)
    assert found.count == 6 + wanted
    assert (found.labels is not None) == test
    assert found.labels is None or found.labels.tolist() == list(range(7))


def test_labels_are_classes_or_targets(tmp_path: Path) -> None:
    def labels(y: np.ndarray) -> Samples:
        return load(saved(tmp_path, x=images(), y=y), graph(), with_labels=True, limit=3)

    classes = labels(np.array([[3], [1], [0], [2], [2]], np.uint8)).labels
    assert classes is not None and (classes.dtype, classes.tolist()) == (np.int64, [3, 1, 0])
    targets = labels(np.linspace(0, 1, 10).reshape(5, 2)).labels
    assert targets is not None and (targets.dtype, targets.shape) == (np.float32, (3, 2))
    rows = labels(np.eye(5))
    assert rows.labels is not None and rows.labels.tolist() == [0, 1, 2]
    assert "classes" in rows.notes[-1]
    bits = labels(np.array([True, False, True, True, False])).labels
    assert bits is not None and bits.tolist() == [1, 0, 1]


def test_labels_are_no_input(tmp_path: Path) -> None:
    found = load(saved(tmp_path, x=images(), label=np.arange(5)), graph())
    assert found.labels is None and not found.notes
    missing = load(saved(tmp_path, x=images()), graph(), with_labels=True)
    assert missing.labels is None and "no labels" in missing.notes[0]


def test_limit_takes_the_first(tmp_path: Path) -> None:
    found = load(saved(tmp_path, x=images()), graph(), limit=2)
    assert np.array_equal(found.arrays[0], images()[:2, None])
    assert "5 samples; 50 were asked for" in load(saved(tmp_path, x=images()), graph(), limit=50).notes[0]
    refused(saved(tmp_path, x=images()), graph(), "0 is no number of samples", limit=0)


def test_one_channel_first_or_last_is_the_same(tmp_path: Path) -> None:
    found = load(saved(tmp_path, x=images(5, (1, 8, 8))), graph(("x", (1, 8, 8, 1))))
    assert found.arrays[0].shape == (5, 1, 8, 8, 1)
    assert "no number changes its place" in found.notes[0]


def test_channels_are_moved_when_asked(tmp_path: Path) -> None:
    last = images().transpose(0, 2, 3, 1)
    refused(saved(tmp_path, x=last), graph(), "[3, 8, 6]", "[8, 6, 3]", "--preprocess nchw", "x.transpose(0, 3, 1, 2)")
    found = load(saved(tmp_path, x=last), graph(), preprocess="nchw")
    assert np.array_equal(found.arrays[0], images()[:, None])
    net = graph(("x", (1, 8, 6, 3)))
    refused(saved(tmp_path, x=images()), net, "--preprocess nhwc", "x.transpose(0, 2, 3, 1)")
    assert np.array_equal(load(saved(tmp_path, x=images()), net, preprocess="nhwc").arrays[0], last[:, None])
    refused(saved(tmp_path, x=images()), graph(), "leave out 'nchw'", preprocess="nchw")


def test_numbers_are_computed_from_left_to_right(tmp_path: Path) -> None:
    x = np.arange(5 * 144).reshape(5, 3, 8, 6).astype(np.uint8)
    found = load(saved(tmp_path, x=x), graph(), preprocess="scale=1/127.5, offset=-1")
    real = x.astype(np.float32)
    assert np.array_equal(found.arrays[0][:, 0], real * np.float32(1 / 127.5) - np.float32(1))
    assert not found.notes
    text = "scale=1/255,mean=0.485:0.456:0.406,std=0.229:0.224:0.225"
    found = load(saved(tmp_path, x=x), graph(), preprocess=text)
    mean, std = (np.float32(v)[:, None, None] for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
    assert np.array_equal(found.arrays[0][:, 0], (real * np.float32(1 / 255) - mean) / std)
    turned = load(saved(tmp_path, x=x.transpose(0, 2, 3, 1)), graph(), preprocess=text + ",nchw")
    assert turned.sha256 == found.sha256


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("scael=2", ("'scael=2' is not a known word", "scale=S", "nchw")),
        ("scale=x", ("'scale=x'", "multiply by S")),
        ("scale=1/0", ("'scale=1/0'",)),
        ("scale=nan", ("a number or a fraction",)),
        ("std=0", ("cannot divide by 0",)),
        ("nchw=1", ("takes no value",)),
        ("nchw,scale=2", ("'scale=2' is for numbers and comes after 'nchw'", "the order is")),
        ("nchw,nhwc", ("only one of nchw and nhwc",)),
        ("mean=1:2", ("2 numbers, one per channel, fit no axis", "[3, 8, 6]")),
        ("scale=2,,", ("'' is not a known word",)),
    ],
)
def test_words_that_cannot_be(tmp_path: Path, text: str, parts: tuple[str, ...]) -> None:
    refused(saved(tmp_path, x=images()), graph(), *parts, preprocess=text)


def test_channels_that_could_be_several_axes(tmp_path: Path) -> None:
    path = saved(tmp_path, x=images(5, (3, 8, 3)))
    refused(path, graph(("x", (1, 3, 8, 3))), "fit more than one axis", preprocess="mean=1:2:3")


def test_whole_numbers_for_floats_are_doubted(tmp_path: Path) -> None:
    x = np.random.default_rng(0).integers(0, 256, (5, *IMAGE[1:]), np.uint8)
    for array in (x, x.astype(np.float32)):
        assert "scale=1/255" in load(saved(tmp_path, x=array), graph()).notes[0]


def test_integer_inputs_take_whole_numbers(tmp_path: Path) -> None:
    net = graph(("ids", (1, 4)), dtype="s32")
    ids = np.arange(12).reshape(3, 4)
    assert load(saved(tmp_path, x=ids.astype(np.float64)), net).arrays[0].dtype == np.int32
    refused(saved(tmp_path, x=ids + 0.5), net, "sample 0: 0.5 at [0, 0] is not a whole number")
    refused(saved(tmp_path, x=ids + 2**31 - 5), net, "sample 1: 2147483648 at [0, 1] is not in")


def test_a_model_without_inputs(tmp_path: Path) -> None:
    refused(saved(tmp_path, y=images()), replace(graph(), inputs=()), "'net' has no input")


def test_one_sample_is_allowed_with_a_note(tmp_path: Path) -> None:
    assert "a single sample" in load(saved(tmp_path, x=images(1)), graph()).notes[0]


def test_copies_are_noted_and_equal_samples_refused(tmp_path: Path) -> None:
    x = images()
    x[3] = x[1]
    assert "1 of 5 samples are copies" in load(saved(tmp_path, x=x), graph()).notes[0]
    x[:] = x[0]
    refused(saved(tmp_path, x=x), graph(), "all 5 samples are equal")
    two = graph(("a", (1, 2)), ("b", (1, 3)))
    fixed = saved(tmp_path, a=images(5, (2,)), b=np.ones((5, 3)))
    assert "input 'b' is the same in all samples" in load(fixed, two).notes[0]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(tmp_path: Path, value: float) -> None:
    x = images(400, (3, 80, 60))
    x[377, 2, 1, 5] = x[390] = value
    refused(
        saved(tmp_path, x=x), graph(("x", (1, 3, 80, 60))), f"sample 377: {value} at [0, 2, 1, 5]", "calib.npz: 'x'"
    )


def test_values_beyond_float32(tmp_path: Path) -> None:
    x = images().astype(np.float64)
    x[2, 1, 0, 3] = 1e39
    refused(saved(tmp_path, x=x), graph(), "sample 2: 1e+39 at [0, 1, 0, 3] is too large for float32")
    refused(saved(tmp_path, x=images()), graph(), "is not a finite number", preprocess="scale=1e38,scale=1e38")
    refused(saved(tmp_path, x=images()), graph(), "numbers that float32 cannot hold", preprocess="scale=1e308")


@pytest.mark.parametrize(
    ("arrays", "parts"),
    [
        ({"a": (5, 2), "c": (5, 3)}, ("no array for input 'b'", "'a', 'c'")),
        ({"a": (5, 2)}, ("no array for input 'b'",)),
        ({"a": (5, 2), "b": (5, 3), "c": (5, 1)}, ("unknown key 'c'",)),
        ({"a": (5, 2), "b": (4, 3)}, ("'b'", "has 4 samples, but", "has 5")),
        ({"a": (5, 2), "b": (5, 4)}, ("expected samples of shape [3], found [4]",)),
        ({"a": (0, 2), "b": (0, 3)}, ("holds no samples",)),
        ({"a": (5, 2), "b": ()}, ("is a single number",)),
    ],
)
def test_arrays_that_are_not_the_inputs(tmp_path: Path, arrays: dict[str, Any], parts: tuple[str, ...]) -> None:
    given = {key: images(shape[0], shape[1:]) if shape else np.float32(1) for key, shape in arrays.items()}
    refused(saved(tmp_path, **given), graph(("a", (1, 2)), ("b", (1, 3))), *parts)


@pytest.mark.parametrize(
    ("shape", "parts"),
    [
        ((5, 3, 8, 7), ("[3, 8, 6], found [3, 8, 7]",)),
        (IMAGE[1:], ("a single sample", "x[None]")),
        (IMAGE, ()),
        ((5, 144), ("x.reshape(len(x), 3, 8, 6)",)),
        ((5, 6, 8, 3), ("another order",)),
        ((5, 2, 3, 8, 6), ("found [2, 3, 8, 6]",)),
    ],
)
def test_shapes_that_do_not_fit(tmp_path: Path, shape: tuple[int, ...], parts: tuple[str, ...]) -> None:
    path = saved(tmp_path, x=images(shape[0], shape[1:]))
    if parts:
        refused(path, graph(), *parts)
    else:
        assert load(path, graph()).count == 1


def test_several_arrays_for_one_input(tmp_path: Path) -> None:
    refused(saved(tmp_path, a=images(), b=images()), graph(), "no array for input 'image'", "'a', 'b'")
    refused(saved(tmp_path, image=images(), b=images()), graph(), "unknown key 'b'")
    np.save(tmp_path / "x.npy", images())
    refused(tmp_path / "x.npy", graph(("a", (1, 2)), ("b", (1, 3))), "one array, but the model has 2 inputs")
    refused(saved(tmp_path, a=images()), graph(("a", (1, 2)), ("b", (1, 3))), "one input", preprocess="scale=2")


@pytest.mark.parametrize(
    ("labels", "parts"),
    [
        (np.arange(4), ("4 labels for 5 samples",)),
        (np.array([0, 1, -1, 2, 3]), ("label -1 is no class",)),
        (np.array([0, 1, np.nan, 2, 3]), ("label of sample 2",)),
        (np.full((5, 2), -2), ("label -2 is no class",)),
        (np.array(list("abcde")), ("not real numbers",)),
    ],
)
def test_labels_that_are_none(tmp_path: Path, labels: np.ndarray, parts: tuple[str, ...]) -> None:
    refused(saved(tmp_path, x=images(), y=labels), graph(), *parts, with_labels=True)
    refused(saved(tmp_path, x=images(), y=np.arange(5), label=np.arange(5)), graph(), "could each", with_labels=True)


def test_a_truth_with_rows_of_each_sample(tmp_path: Path) -> None:
    counts, boxes = np.array([2, 0, 1, 0, 1]), np.arange(16.0).reshape(4, 4)
    path = saved(tmp_path, x=images(), boxes=boxes, classes=np.array([1, 2, 0, 1]), counts=counts)
    found = load(path, graph(), with_labels=True, limit=3).labels
    assert isinstance(found, Ragged)
    assert found.counts.tolist() == [2, 0, 1]
    assert [len(part) for part in found.rows("boxes")] == [2, 0, 1] and found.parts["classes"].tolist() == [1, 2, 0]
    assert load(path, graph()).labels is None


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"boxes": np.zeros((4, 4))}, "has boxes, but no array 'counts'"),
        ({"boxes": np.zeros((4, 4)), "counts": np.ones(4, np.int64)}, "4 labels for 5 samples"),
        ({"y": np.zeros(4), "counts": np.ones(5, np.int64)}, "has 4 rows, but the counts add up to 5"),
        ({"y": np.zeros(5), "counts": np.ones(5)}, "does not count the rows of each sample"),
        ({"y": np.zeros(3), "counts": np.array([1, 1, 1, 1, -1])}, "does not count the rows of each sample"),
    ],
)
def test_a_truth_that_does_not_fit_its_counts(tmp_path: Path, arrays: dict[str, np.ndarray], says: str) -> None:
    refused(saved(tmp_path, x=images(), **arrays), graph(), says, with_labels=True)
