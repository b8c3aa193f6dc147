# SPDX-License-Identifier: Apache-2.0
"""C files of the runtime, with the copies for other types that a file lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcugen.errors import InternalError
from mcugen.system import resources

TEXT = """/* SPDX */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, mg_s16 -> int8_t, int16 -> int8
 * mg_twice_s16 -> mg_twice_s16__wide, twice_s16.c -> twice_s16__wide.c
 */
#define TWICE_S16_H
int16_t mg_twice_s16(const mg_s16 *in) { return in[0] > INT16_MAX / 2 ? INT16_MAX : 2 * in[0]; } /* uint16_t, s160 */
"""
OWN = TEXT[: TEXT.index("/* Copies")] + TEXT[TEXT.index("#define") :]


def files(folder: Path, monkeypatch: pytest.MonkeyPatch, **texts: str) -> dict[str, str]:
    """The files of a runtime that consists of these sources."""
    for stem, text in texts.items():
        (folder / f"{stem}.c").write_text(text, encoding="utf-8")
    monkeypatch.setattr(resources, "c_runtime", lambda: folder)
    return {name: file.text for name, file in resources.c_files.__wrapped__().items()}


def test_a_file_has_the_copies_that_it_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = files(tmp_path, monkeypatch, twice_s16=TEXT)
    assert found == {
        "twice_s16.c": OWN,
        "twice_s8.c": "/* SPDX */\n#define TWICE_S8_H\n"
        "int8_t mg_twice_s8(const int8_t *in) { return in[0] > INT8_MAX / 2 ? INT8_MAX : 2 * in[0]; }"
        " /* uint16_t, s160 */\n",
        "twice_s16__wide.c": OWN.replace("mg_twice_s16", "mg_twice_s16__wide"),
    }


def test_a_copy_that_has_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InternalError, match=r"twice_s8\.c twice, in twice_s8\.c and twice_s16\.c"):
        files(tmp_path, monkeypatch, twice_s16=TEXT, twice_s8=OWN)


def test_the_lists_of_copies_are_not_emitted() -> None:
    files = resources.c_files()
    assert not [name for name, file in files.items() if "Copies of this file" in file.text]
    assert len({file.path for file in files.values()}) < len(files)
