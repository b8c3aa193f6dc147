# SPDX-License-Identifier: Apache-2.0
"""Builds are written whole or not at all, inside the folder given, and leave what is the user's alone."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import mcugen
from mcugen.errors import ModelError, UsageError
from mcugen.pipeline import Artifact
from tests.formats.small_models import image_net, three_dense

Tree = dict[str, bytes]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    return _compiled(tmp_path_factory.mktemp("model"), three_dense())


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    return _compiled(tmp_path_factory.mktemp("model"), image_net())


def _compiled(folder: Path, data: bytes) -> Artifact:
    (folder / "net.tflite").write_bytes(data)
    return mcugen.compile(folder / "net.tflite")


def tree(folder: Path) -> Tree:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_new_empty_and_earlier_folders(small: Artifact, other: Artifact, tmp_path: Path) -> None:
    out = tmp_path / "a" / "b" / "out"
    small.write(out)
    assert tree(out) == dict(small.files)
    other.write(out)
    assert tree(out) == dict(other.files)
    (tmp_path / "empty").mkdir()
    small.write(tmp_path / "empty")
    assert tree(tmp_path / "empty") == dict(small.files)
    assert sorted(os.listdir(tmp_path)) == ["a", "empty"]


def test_files_of_the_user_stay(small: Artifact, other: Artifact, tmp_path: Path) -> None:
    out = tmp_path / "out"
    other.write(out)
    (out / "notes.txt").write_text("mine")
    (out / "kernels" / "mine.c").write_text("mine")
    small.write(out)
    assert tree(out) == {**small.files, "notes.txt": b"mine", "kernels/mine.c": b"mine"}


def test_a_file_of_the_user_is_not_replaced(small: Artifact, tmp_path: Path) -> None:
    out = tmp_path / "out"
    small.write(out)
    (out / "mine.c").write_text("precious")
    (tmp_path / "net.tflite").write_bytes(three_dense())
    renamed = mcugen.compile(tmp_path / "net.tflite", name="mine")
    with pytest.raises(UsageError, match=r"mine\.c .*would be replaced"):
        renamed.write(out)
    assert tree(out) == {**small.files, "mine.c": b"precious"}
    (out / "mine.c").write_bytes(renamed.files["mine.c"])  # as an interrupted build leaves it
    renamed.write(out)
    assert tree(out) == dict(renamed.files)


def test_an_edited_file_stays_beside_the_new(small: Artifact, other: Artifact, tmp_path: Path) -> None:
    """Once for each edit, also of a file that the new build lacks; a page is no file to edit."""
    out = tmp_path / "out"
    assert other.write(out) == ()
    gone = next(name for name in other.files if name.startswith("kernels/") and name not in small.files)
    for name in ("net.c", gone, "report.html"):
        (out / name).write_text("mine")
    assert small.write(out) == (f"{gone}.edited", "net.c.edited")
    assert tree(out) == {**small.files, "net.c.edited": b"mine", f"{gone}.edited": b"mine"}
    (out / "net.c").write_text("mine again")
    assert small.write(out) == ("net.c.edited1",) and small.write(out) == ()
    assert (out / "net.c.edited").read_text() == "mine" and (out / "net.c.edited1").read_text() == "mine again"
    (out / "net.c").write_bytes(other.files["net.c"])  # as the next build has it: nothing is lost
    assert other.write(out) == ()


def test_ends_of_lines_are_no_edit(small: Artifact, tmp_path: Path) -> None:
    """Line ends as in a Git checkout on Windows."""
    small.write(tmp_path)
    for name in small.files:
        (tmp_path / name).write_bytes(small.files[name].replace(b"\n", b"\r\n"))
    assert small.write(tmp_path) == () and tree(tmp_path) == dict(small.files)


def test_the_current_folder(small: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = os.stat(".").st_ino
    small.write(".")
    small.write("")
    assert os.stat(".").st_ino == before == os.stat(tmp_path).st_ino
    assert tree(tmp_path) == dict(small.files)


@pytest.mark.parametrize("content", [{"thesis.txt": "x"}, {"report.json": "{}"}, {"report.json": '{"files": 3}'}])
def test_foreign_folder(small: Artifact, tmp_path: Path, content: dict[str, str]) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    before = tree(tmp_path)
    with pytest.raises(UsageError, match=r"an earlier build|not written by mcugen"):
        small.write(tmp_path)
    assert tree(tmp_path) == before


def test_report_that_names_files_outside(small: Artifact, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.json").write_text(f'{{"files": ["../victim", "{tmp_path}/victim", "a/../../victim", "x\\u0000"]}}')
    small.write(out)
    assert (tmp_path / "victim").read_text() == "precious"
    assert tree(out) == dict(small.files)


def test_existing_file_and_impossible_paths(small: Artifact, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (
        tmp_path / "file",
        tmp_path / "file" / "out",
        Path("/proc/none/out"),
        Path("a\0b"),
        tmp_path / ("n" * 300),
    ):
        with pytest.raises(UsageError):
            small.write(path)
    assert tree(tmp_path) == {"file": b"x"}


def test_links(small: Artifact, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    small.write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert tree(tmp_path / "real") == dict(small.files)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError):
        small.write(tmp_path / "loop")


@pytest.mark.parametrize("name", ["kernels", "net.c", "report.json"])
def test_planted_links_do_not_lead_outside(small: Artifact, tmp_path: Path, name: str) -> None:
    out, outside = tmp_path / "out", tmp_path / "outside"
    small.write(out)
    before = (out / name).read_bytes() if (out / name).is_file() else b""
    if (out / name).is_dir():
        for path in (out / name).iterdir():
            path.unlink()
        (out / name).rmdir()
        outside.mkdir()
    else:
        (out / name).unlink()
        outside.write_bytes(before)
    (out / name).symlink_to(outside)
    with pytest.raises(UsageError, match=name):
        small.write(out)
    assert tree(outside) == {} if outside.is_dir() else outside.read_bytes() == before
    assert not list(out.glob(".mcugen-*"))


def test_failure_while_writing_leaves_nothing(
    small: Artifact, other: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = tmp_path / "earlier"
    small.write(earlier)
    whole = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "report.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return whole(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    for target in (earlier, tmp_path / "new" / "deep"):
        with pytest.raises(UsageError, match="No space left"):
            other.write(target)
    assert tree(tmp_path) == {f"earlier/{name}": data for name, data in small.files.items()}
    assert os.listdir(tmp_path) == ["earlier"]


def test_refused_model_leaves_an_earlier_build_alone(small: Artifact, tmp_path: Path) -> None:
    small.write(tmp_path / "out")
    (tmp_path / "bad.tflite").write_bytes(three_dense()[:700])
    with pytest.raises(ModelError):
        mcugen.compile(tmp_path / "bad.tflite").write(tmp_path / "out")
    assert tree(tmp_path / "out") == dict(small.files)
