# SPDX-License-Identifier: Apache-2.0
"""A name in generated C that nothing declares is found by the build itself, before anything is written."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from mcugen import cli, pipeline
from mcugen.emit import resolution
from mcugen.emit.view import ModelView
from mcugen.errors import InternalError
from tests.emit.built import build
from tests.formats import small_models

_USED = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_DEFINED = re.compile(r"^(?:static |const |inline |MCUGEN_INLINE )*\w+ \**(\w+)(?=[(\[ ])", re.MULTILINE)

HEADER = """
#include <stdint.h>
typedef struct p { const int8_t *in, *out; int32_t size[2]; } mg_p;
enum kind { MG_ONE, MG_TWO };
#define MG_DECLARE_PAIR(f) void MG_PART(f, row)(int x); void f(int x)
#define MG_DECLARE_copy(f) MG_DECLARE_PAIR(f)
"""


def undeclared(source: str) -> str:
    """The complaint on a source, "" where there is none."""
    files = {"m.c": f'#include "mcugen/h.h"\n{source}'.encode(), "mcugen/h.h": HEADER.encode()}
    try:
        resolution.require_declared(files, ["m.c"])
    except InternalError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "source",
    [
        "static const mg_p p = {.in = (const int8_t *)0, .size = {1, 2}};",
        "void f(int8_t *a, int n)\n{\n    for (int i = 0, j = n; i < j; i += 1) {\n        f(a + i, j);\n    }\n}",
        "MG_DECLARE_copy(mg_a);\nvoid f(void)\n{\n    mg_a_row(MG_ONE);\n    mg_a(1);\n}",
        'void f(mg_p *p)\n{\n    int32_t a = p->size[0], *b = &a;\n    a = (int32_t)*b * a;\n    /* z */ "z";\n}',
    ],
)
def test_names_that_are_declared(source: str) -> None:
    assert undeclared(source) == ""


@pytest.mark.parametrize(
    ("source", "line", "name"),
    [
        ("void f(int n)\n{\n    n += row;\n}", 4, "row"),
        ("void f(int n)\n{\n    if (n) {\n        int y = n;\n    }\n    n += y;\n}", 7, "y"),
        ("void f(int n)\n{\n    for (int i = 0; i < n; i += 1) {\n    }\n    n = i;\n}", 6, "i"),
        ("void f(int n);\nvoid g(void)\n{\n    f(n);\n}", 5, "n"),
        ("static const mg_p p = {.inn = 0};", 2, "inn"),
        ("static const mg_p p = {\n    .size = {MG_THREE}};", 3, "MG_THREE"),
        ("void f(mg_p *p)\n{\n    p->length = 1;\n}", 4, "length"),
        ("MG_DECLARE_copy(mg_a);\nvoid f(void)\n{\n    mg_a_end(1);\n}", 5, "mg_a_end"),
        ("void f(mg_q *p)\n{\n}", 2, "mg_q"),
        ("void f(float x)\n{\n    x = expf(x);\n}", 4, "expf"),
        ("/* a\n * comment */\n#define A \\\n    1\nvoid f(int a)\n{\n    a = B;\n}", 8, "B"),
    ],
)
def test_names_that_nothing_declares(source: str, line: int, name: str) -> None:
    assert undeclared(source) == f"m.c:{line}: the C made for this model uses {name}, which nothing declares"


def test_a_step_that_names_what_it_has_not_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A step with a count of rows, though no schedule by rows declares `row`."""
    made = pipeline.emit_view.build

    def planted(*args: object, **kwargs: object) -> ModelView:
        view = made(*args, **kwargs)  # type: ignore[arg-type]
        step = next(s for s in view.steps if s.form == "run")
        broken = dataclasses.replace(step, outputs=[f"{step.outputs[0]} + row * 4u"])
        return dataclasses.replace(view, steps=[broken if s is step else s for s in view.steps])

    monkeypatch.setattr(pipeline.emit_view, "build", planted)
    (tmp_path / "kws.tflite").write_bytes(small_models.three_dense())
    with pytest.raises(SystemExit) as stopped:
        cli.main(["build", str(tmp_path / "kws.tflite"), "-o", str(tmp_path / "out")])
    said = capsys.readouterr().err
    assert stopped.value.code == InternalError.exit_code
    assert re.search(r"error: kws\.c:\d+: the C made for this model uses row, which", said)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("model", "choices"),
    [
        ("digits", {"board": "cortex-m4", "input_mode": "rows"}),
        ("f32_conv_2d", {"weights_blob": True}),
    ],
)
def test_every_name_of_a_build_is_needed(model: str, choices: dict[str, object], tmp_path: Path) -> None:
    """The last use of each name, put as another one, is an undeclared name."""
    built = build(model, tmp_path, **choices)
    path, files = f"{built.name}.c", built.artifact.files
    source = files[path].decode()
    blank = resolution._HIDDEN.sub(lambda match: " " * len(match[0]), source)
    last = {match[0]: match.start() for match in _USED.finditer(blank)}
    uses = last.keys() - resolution._WORDS - set(_DEFINED.findall(blank))
    assert len(uses) > 20
    for name in sorted(uses)[::3]:
        at = last[name]
        broken = f"{source[:at]}mg_no_such_name{source[at + len(name) :]}"
        with pytest.raises(InternalError, match="which nothing declares"):
            resolution.require_declared({**files, path: broken.encode()}, [path])
