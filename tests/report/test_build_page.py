"""report.html: all that it shows is in report.json, nothing comes from elsewhere, and it is the same made again."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import mcugen
from mcugen import report
from mcugen.builds import shared_arena
from mcugen.cli import main
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.report import page, schema
from mcugen.report.estimates import three_digits

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
MICROPHONE = ROOT / "examples" / "microphone" / "sweeps.tflite"
VOID = {"meta", "br", "path", "rect", "link"}
MOST_BYTES = 500_000
_RECT = r'<rect class="{}"[^>]* x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'


class Outline(HTMLParser):
    """The tags of a page, each closed, with ids and links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(str(value))
            if key == "href" and str(value).startswith("#"):
                self.links.append(str(value)[1:])
            elif key in ("href", "src", "srcset", "data", "action"):
                self.loads.append(str(value))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def digits() -> Artifact:
    return mcugen.compile(DIGITS, board="nucleo-l4r5zi")


def typed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    return int(ended.value.code or 0), *capsys.readouterr()


def test_it_shows_what_the_document_holds(digits: Artifact) -> None:
    text, facts = digits.files["report.html"].decode(), json.loads(digits.files["report.json"])
    outline = Outline(text)
    assert text.isascii() and not outline.open and not outline.loads and "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert len(text) < MOST_BYTES and set(outline.links) <= set(outline.ids)
    assert [f"layer-{s['index']}" for s in facts["steps"]] == [name for name in outline.ids if name != "turns"]
    for key in ("ram_bytes", "weights_bytes", "live_macs", "macs", "ram_limit_bytes", "flash_limit_bytes"):
        assert f"{facts[key]:,}" in text
    for step in facts["steps"]:
        row = re.search(rf'<tr data-l="{step["index"]}".*?</tr>', text, re.DOTALL)
        assert row is not None and step["kernel"] in row[0] and step["op"] in row[0]
        assert f"<td>{step['cycles']['high']:,}</td>" in row[0] and f"<td>{step['macs']:,}</td>" in row[0]
    assert facts["sha256"] in text and f"{facts['command']} -o out/" in text and facts["promise"] in text
    assert len(re.findall('<rect class="b ', text)) == len(facts["buffers"])


def test_wide_and_narrow_windows_lose_nothing(digits: Artifact) -> None:
    facts = json.loads(digits.files["report.json"])
    facts["steps"][0]["name"] = "network/a_block_of_layers/number_10/conv"
    facts["removed"] = [{**item, "why": "zero for every input"} for item in facts["removed"]]
    text = page.html(facts).decode()
    assert f'<span class="long">{facts["steps"][0]["name"]}</span>' in text and facts["removed"]
    assert '<tr><td colspan="3" class="soft">zero for every input</td></tr>' in text
    assert text.count('<span class="whole"><span class="key ') >= 5
    assert f'<td class="n">{facts["flash_limit_bytes"]:,}</td><td>with the code</td>' in text


def test_an_operator_of_the_file_is_listed_once(tmp_path: Path) -> None:
    """A Conv over one dimension becomes several operators of one source."""
    weights = numpy_helper.from_array(np.random.default_rng(0).standard_normal((4, 3, 3)).astype(np.float32), "w")
    ends = [helper.make_tensor_value_info(*end) for end in (("x", 1, [1, 3, 16]), ("y", 1, [1, 4, 16]))]
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"], "c", pads=[1, 1]), helper.make_node("Relu", ["a"], ["y"], "r")]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], [weights])
    opset = helper.make_opsetid("", 13)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), tmp_path / "net.onnx")
    steps = mcugen.compile(tmp_path / "net.onnx", board="cortex-m4", export=("none",)).report.steps
    assert {s.operators for s in steps} == {(), ("node 0 Conv 'c'", "node 1 Relu 'r'")}


def test_names_of_a_model_are_text(digits: Artifact) -> None:
    facts = json.loads(digits.files["report.json"])
    bad = "</script><img src=x>\"'&"
    facts["steps"][0]["name"] = facts["name"] = facts["tensors"][0]["name"] = facts["notes"] = bad
    facts["notes"], facts["steps"][0]["inputs"] = [bad], [bad]
    text = page.html(facts).decode()
    assert "<img" not in text and text.count("</script>") == 1 and not Outline(text).loads
    assert b"<img" not in page.badge(facts)


def test_documents_are_as_the_schema_says(digits: Artifact) -> None:
    kept = json.loads((ROOT / "docs" / "report.schema.json").read_text())
    assert kept == schema.schema(), "mcugen report --schema > docs/report.schema.json"
    streamed = mcugen.compile(MICROPHONE, input_mode="frames", no_report=True)
    assert "report.html" not in streamed.files and "badge.svg" not in streamed.files
    assert "a whole window has" in streamed.report.notes[-1]
    for artifact in (digits, streamed):
        assert schema.misfit(json.loads(artifact.files["report.json"])) == ""
    facts = json.loads(digits.files["report.json"])
    for change, where in (({"steps": 1}, ".steps"), ({"proven": 1}, ".proven"), ({"more": 1}, ".more")):
        assert schema.misfit({**facts, **change}) == where
    facts["steps"][1]["cycles"]["low"] = "many"
    assert schema.misfit(facts) == ".steps[1].cycles"


def test_layers_and_buffers_fit_each_other(digits: Artifact) -> None:
    facts: dict[str, Any] = json.loads(digits.files["report.json"])
    tensors = {t["name"]: t for t in facts["tensors"]}
    buffers = {b["name"]: b for b in facts["buffers"]}
    assert all(b["offset"] + b["nbytes"] <= facts["arena_bytes"] for b in buffers.values())
    assert max(b["last_event"] for b in buffers.values()) < facts["events"]
    for step in facts["steps"]:
        for name in (*step["inputs"], *step["outputs"]):
            buffer = buffers[tensors[name]["buffer"]]
            assert buffer["first_event"] <= step["first_event"] <= buffer["last_event"]
        assert step["name"] and step["last_event"] >= step["first_event"]


def test_the_page_is_made_again_and_compared(
    digits: Artifact, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    digits.write(a)
    (a / "report.html").unlink()
    status, out, _ = typed(capsys, "report", a)
    assert status == 0 and (a / "report.html").read_bytes() == digits.files["report.html"] and "report.html" in out
    mcugen.compile(DIGITS, board="nucleo-l4r5zi", optimize="ram", no_report=True).write(b)
    assert not (b / "report.html").exists() and typed(capsys, "report", b)[0] == 0
    digits.write(b)
    assert (b / "report.html").read_bytes() == digits.files["report.html"]
    status, _, err = typed(capsys, "report", "--compare", a, b, "-o", tmp_path / "ab.html")
    text = (tmp_path / "ab.html").read_text()
    assert status == 0 and not err and not Outline(text).open and f"{digits.report.ram_bytes:,}" in text
    assert "+0.0 %" in text


def test_a_comparison_takes_counted_cycles_of_both_or_estimates_of_both(digits: Artifact) -> None:
    """And shows steps of equal names each for itself."""
    one: dict[str, Any] = json.loads(digits.files["report.json"])
    step = {"instructions": 3, "code_bytes": 1, "cycles": {"low": 7, "high": 9}}
    counts = {"cycles": {"low": 70, "high": 7_654_321}, "instructions": 12_345, "steps": [step] * len(one["steps"])}
    ran = {"simulated": defaultdict(int, counts, stack_path=(), notes=())}
    for given in (one, {**one, **ran}):
        text = page.comparison({**one, **ran}, given, ("a", "b")).decode()
        counted = given is not one
        assert ("counted on the emulated core" in text) == counted == ("7,654,321" in text) == ("12,345" in text)
        assert (f"{one['cycles']['high']:,}" in text) != counted
    alike = [{**step, "name": "same", "op": "Same"} for step in one["steps"]]
    text = page.comparison({**one, "steps": alike}, {**one, "steps": alike}, ("a", "b")).decode()
    assert text.count('<td title="same">') == len(alike) and "not there" not in text


def test_layers_say_how_long_they_take(digits: Artifact) -> None:
    """Times are in milliseconds where the board has a clock; a bare core has none."""
    for board, has_time in (("nucleo-l4r5zi", True), ("cortex-m4", False)):
        made = digits if has_time else mcugen.compile(DIGITS, board=board)
        facts, text = json.loads(made.files["report.json"]), made.files["report.html"].decode()
        assert ('<th class="n">ms</th>' in text) == has_time
        for step in facts["steps"] if has_time else ():
            ms = 500 * (step["cycles"]["low"] + step["cycles"]["high"]) / facts["clock_hz"]
            row = re.search(rf'<tr data-l="{step["index"]}".*?</tr>', text, re.DOTALL)
            assert row is not None and f"<td>{three_digits(ms)}</td>" in row[0]


def test_bytes_taken_in_turn_are_hatched(digits: Artifact) -> None:
    """Whole tensors never overlap; rows of several do."""
    whole = mcugen.compile(DIGITS, board="nucleo-l4r5zi", no_rows=True).files["report.html"].decode()
    text = digits.files["report.html"].decode()
    assert 'class="shared"' in text and "in turn" in text and 'class="shared"' not in whole and "in turn" not in whole
    corners = [tuple(float(v) for v in b) for b in re.findall(_RECT.format("b [a-z]+"), text)]
    hatched = [tuple(float(v) for v in b) for b in re.findall(_RECT.format("shared"), text)]
    for x, y, w, h in hatched:
        over = [b for b in corners if b[0] <= x + 0.1 and b[1] <= y + 0.1]
        over = [b for b in over if b[0] + b[2] >= x + w - 0.1 and b[1] + b[3] >= y + h - 0.1]
        assert len(over) >= 2


@pytest.mark.parametrize(
    ("names", "heads"),
    [(("a/out", "b/in"), ("out", "in")), (("a/out", "b/out"), ("A", "B")), (("long" * 9, "b"), ("A", "B"))],
)
def test_columns_of_a_comparison_are_short(digits: Artifact, names: tuple[str, str], heads: tuple[str, str]) -> None:
    facts: dict[str, Any] = json.loads(digits.files["report.json"])
    text = page.comparison(facts, facts, names).decode()
    assert all(
        f'<th class="n">{head}</th>' in text and f"<code>{name}</code>" in text
        for head, name in zip(heads, names, strict=True)
    )
    assert all(f'<th class="n">ms: {head}</th>' in text for head in heads)


def test_a_badge_says_bytes(digits: Artifact) -> None:
    assert f"{digits.report.ram_bytes:,} bytes RAM" in digits.files["badge.svg"].decode()


def test_other_documents_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content, says in (("{}", "not a report of schema"), ("[", "cannot be read"), ('{"schema": 1}', "not a report")):
        (tmp_path / "report.json").write_text(content)
        status, _, err = typed(capsys, "report", tmp_path)
        assert status == 2 and says in err
    assert typed(capsys, "report")[0] == 2 and typed(capsys, "report", "--compare", tmp_path)[0] == 2


def test_a_notebook_shows_the_head(digits: Artifact) -> None:
    shown = digits._repr_html_()
    assert not Outline(shown).open and f"{digits.report.ram_bytes:,} bytes" in shown and "the bits of" in shown


def test_several_models_have_one_page() -> None:
    models = [DIGITS, MICROPHONE]
    made = shared_arena.build(models, Options(board="cortex-m4"))
    text = made.files["report.html"].decode()
    assert {"digits-layer-0", "sweeps-layer-0"} <= set(Outline(text).ids) and not Outline(text).open
    assert page.checked(json.loads(made.files["report.json"]), "report.json")["name"] == "models"


def test_people_read_the_whole_name(tmp_path: Path) -> None:
    """The C has a short one; a hostile file's name is text, on one line."""
    model = tmp_path / "keyword <b>spotting\n2.tflite"
    model.write_bytes(DIGITS.read_bytes())
    made = mcugen.compile(model, board="cortex-m4")
    whole = "keyword <b>spotting?2"
    assert made.called == f"{whole} ({made.name} in C)" and made.name == "keyword_b_spotting_2"
    assert report.as_text(made.report).startswith(f"{made.called} for cortex-m4")
    shown = made.files["report.html"].decode()
    assert "<title>keyword &lt;b&gt;spotting?2: report" in shown and f"{made.name} in C</p>" in shown
    assert "mcugen keyword &lt;b&gt;spotting?2" in made.files["badge.svg"].decode()
    assert json.loads(made.files["report.json"])["title"] == whole
    named = mcugen.compile(f"kws={DIGITS}", board="cortex-m4", no_report=True)
    assert named.called == "kws"
