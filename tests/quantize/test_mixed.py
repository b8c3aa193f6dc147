"""Bits of single layers: given by name, or chosen by what the board pays and what is lost."""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mcugen.builds.mixed import axis as axes
from mcugen.builds.mixed.loss import CLASSES, ERROR, Loss
from mcugen.builds.mixed.plan import BitsChooser, Request
from mcugen.builds.mixed.search import BitsPoint
from mcugen.cli import cli
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.formats import read, registry
from mcugen.options import Options
from mcugen.quantize import kept, quantize_model
from mcugen.quantize.recipe import Widths
from tests.quantize.test_quantize import network, samples

Fronts = dict[str, list[BitsPoint]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("mixed")
    return network(folder / "net.onnx"), samples(folder / "calib.npz", 16)


def mixed(
    files: tuple[Path, Path], request: Request, **choices: object
) -> tuple[quantize_model.Quantized, BitsChooser]:
    chosen = BitsChooser(request)
    asked = quantize_model.QuantizeOptions(jobs=1, **choices)  # type: ignore[arg-type]
    return quantize_model.quantize(*files, asked, choose=chosen.choose), chosen


def board(**budgets: str) -> Options:
    return Options(board="cortex-m4", **budgets)  # type: ignore[arg-type]


def kinds(found: quantize_model.Quantized, path: Path) -> list[str]:
    path.write_bytes(found.written("tflite"))
    graph = read.load(path, registry.load(()))
    return [graph.type(str(n.inputs[1])).dtype for n in graph.nodes if n.op.scaled_axis is not None]


@pytest.fixture(scope="module")
def fronts(files: tuple[Path, Path]) -> Fronts:
    """Points between all wide and all narrow, of weights and of activations."""
    return mixed(files, Request(weights=True, activations=True, options=board(), front=True))[1].fronts


def test_bits_given_by_name(files: tuple[Path, Path], tmp_path: Path) -> None:
    found = quantize_model.quantize(*files, quantize_model.QuantizeOptions(jobs=1, layers=("r1=w4", "y=a16")))
    assert kinds(found, tmp_path / "net.tflite") == ["s8", "s4", "s8", "s8"]
    assert found.bridges == 1
    assert found.graph.type(found.graph.outputs[0]).dtype == "s16"


@pytest.mark.parametrize("text", ["c9=w4", "r1=w5", "r1", "r1=", "=w4"])
def test_names_and_bits_that_are_none_are_refused(files: tuple[Path, Path], text: str) -> None:
    with pytest.raises(UsageError, match=r"no layer|does not give bits"):
        quantize_model.quantize(*files, quantize_model.QuantizeOptions(jobs=1, layers=(text,)))


def test_bits_that_the_runtime_does_not_run_are_refused(files: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match=r"weights of 4 bits and data of 16"):
        quantize_model.quantize(*files, quantize_model.QuantizeOptions(jobs=1, layers=("r1=w4a16",)))


@pytest.mark.whole
def test_every_layer_is_narrow_where_that_may_be(files: tuple[Path, Path]) -> None:
    point = mixed(files, Request(weights=True, most=100.0, options=board()))[1].point
    assert point is not None
    assert [bits for _, bits in point.widths.weights_of] == [4] * 4


@pytest.mark.whole
def test_fronts_cost_more_for_more_decibels(fronts: Fronts) -> None:
    assert set(fronts) == {"weights", "activations"}
    for kind, points in fronts.items():
        assert len(points) > 1
        assert all(a.sqnr <= b.sqnr for a, b in pairwise(points))
        costs = [(p.cost.flash if kind == "weights" else p.cost.ram, p.cost.time) for p in points]
        for worse, better in combinations(costs, 2):
            assert worse[0] < better[0] or worse[1] < better[1]


@pytest.mark.whole
def test_budget_of_flash_is_met_with_few_narrow_layers(files: tuple[Path, Path], fronts: Fronts) -> None:
    points = sorted(fronts["weights"], key=lambda p: p.cost.flash)
    limit = (points[0].cost.flash + points[-1].cost.flash) // 2
    found, chosen = mixed(files, Request(weights=True, options=board(flash=str(limit))))
    assert chosen.point is not None
    assert chosen.point.cost.flash <= limit
    assert 4 in [found.widths.of_weights(name) for name, _ in found.widths.weights_of]
    assert chosen.point.sqnr > points[0].sqnr


@pytest.mark.whole
def test_budget_of_ram_takes_wide_data_where_it_fits(files: tuple[Path, Path], fronts: Fronts) -> None:
    points = sorted(fronts["activations"], key=lambda p: p.cost.ram)
    limit = (points[0].cost.ram + points[-1].cost.ram) // 2
    found, chosen = mixed(files, Request(activations=True, options=board(ram=str(limit))))
    assert chosen.point is not None
    assert chosen.point.cost.ram <= limit
    assert 16 in [bits for _, bits in found.widths.activations_of]


@pytest.mark.whole
def test_loss_in_between_is_met_by_some_layers(files: tuple[Path, Path], fronts: Fronts) -> None:
    _, chosen = mixed(files, Request(weights=True, most=0.01, options=board(), judge=ERROR))
    points = sorted(fronts["weights"], key=lambda p: p.cost.flash)
    assert chosen.point is not None
    assert chosen.point.loss <= 0.01
    assert points[0].cost.flash < chosen.point.cost.flash < points[-1].cost.flash


@pytest.mark.whole
def test_budget_that_nothing_meets_is_refused(files: tuple[Path, Path]) -> None:
    with pytest.raises(MemoryBudgetError, match="no assignment of bits fits"):
        mixed(files, Request(weights=True, options=board(flash="100")))


@pytest.mark.whole
def test_loss_that_nothing_meets_is_refused(files: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="loses"):
        mixed(files, Request(weights=True, most=0.0, options=board(), judge=ERROR))


@pytest.mark.whole
def test_interrupted_search_goes_on_with_the_same_result(files: tuple[Path, Path], tmp_path: Path) -> None:
    path, request = tmp_path / "trials.json", Request(weights=True, most=100.0, options=board())
    first, _ = mixed(files, request, resume=path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:4]) + lines[4][:30], encoding="utf-8")
    again, _ = mixed(files, request, resume=path)
    assert again.written("tflite") == first.written("tflite")
    assert sorted(path.read_text(encoding="utf-8").splitlines(keepends=True)) == sorted(lines)
    with pytest.raises(UsageError, match="trials of another model"):
        kept.opened(path, "another model")


def test_damaged_file_of_trials_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trials.json"
    path.write_text('{"origin": "a"}\n["b"]\n', encoding="utf-8")
    with pytest.raises(UsageError, match="no trials"):
        kept.opened(path, "a")


@pytest.mark.parametrize("text", ["a line of my own", "two lines\nof my own", '{"origin": "b"}\nof my own'])
def test_file_of_something_else_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"another model|cannot be read as trials"):
        kept.opened(path, "a")
    assert path.read_text(encoding="utf-8") == text


def test_loss_of_classes_is_half_of_the_changes() -> None:
    powers = np.array([[8.0, 8.0], [1.0, 1.0]])
    assert Loss(CLASSES, np.array([0.0, 0.0]), 2).of(powers) == pytest.approx(25.0, abs=1e-4)
    assert Loss(CLASSES, np.array([100.0, 100.0]), 2).of(powers) == pytest.approx(0.0, abs=1e-9)
    assert Loss(ERROR, np.zeros(2), 2).of(powers) == pytest.approx(12.5)


def test_weights_in_few_bits_are_not_offered_beside_wide_data(files: tuple[Path, Path]) -> None:
    found: list[axes.BitsAxis] = []

    def choose(workers: object, base: Widths, progress: object) -> Widths:
        found.append(axes.weights(workers.bench, base))  # type: ignore[attr-defined]
        return base

    quantize_model.quantize(
        *files, quantize_model.QuantizeOptions(jobs=1, widths=Widths(activations=16)), choose=choose
    )
    assert found[0].nodes == ()


def test_command_prints_what_was_chosen(files: tuple[Path, Path], tmp_path: Path) -> None:
    model, data = map(str, files)
    out = tmp_path / "net.tflite"
    given = ["--data", data, "--weights", "mixed", "--max-loss", "100%", "--board", "cortex-m4", "--jobs", "1"]
    result = CliRunner().invoke(cli, ["quantize", model, *given, "-o", str(out)], catch_exceptions=False)
    assert "chosen for cortex-m4" in result.output
    assert "weights of 4 bits: all layers" in result.output
    result = CliRunner().invoke(cli, ["quantize", model, *given, "--json", "-o", str(out)], catch_exceptions=False)
    assert json.loads(result.stdout)["mixed"]["chosen"]["flash"] > 0


@pytest.mark.parametrize(
    "options",
    [["--weights", "mixed"], ["--max-loss", "1%"], ["--weights", "mixed", "--max-loss", "much"]],
    ids=["no goal", "nothing to choose", "no number"],
)
def test_contradictions_are_refused(files: tuple[Path, Path], tmp_path: Path, options: list[str]) -> None:
    model, data = map(str, files)
    result = CliRunner().invoke(cli, ["quantize", model, "--data", data, "-o", str(tmp_path / "a.tflite"), *options])
    assert isinstance(result.exception, UsageError)
