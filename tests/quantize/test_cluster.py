"""Trials on a Dask cluster: the same bytes as in one process, and errors that name the missing part."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import distributed
import pytest

from mcugen.errors import ToolError, UsageError
from mcugen.quantize import cluster, quantize_model
from tests.quantize.test_quantize import network, samples


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A scheduler with two workers of two threads each, which sends all that it sends through sockets."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as made:
        yield made.scheduler_address


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return network(tmp_path / "net.onnx", 4.0), samples(tmp_path / "calib.npz", 24)


@pytest.mark.whole
def test_same_bytes_as_in_one_process(address: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    choices = quantize_model.QuantizeOptions(limit=12, scheduler=address, resume=tmp_path / "trials")
    here, there = (
        quantize_model.quantize(*files, quantize_model.QuantizeOptions(limit=12, jobs=1)),
        quantize_model.quantize(*files, choices),
    )
    assert there.judged.trials == here.judged.trials
    assert [there.written(f) for f in ("tflite", "onnx")] == [here.written(f) for f in ("tflite", "onnx")]
    kept = (tmp_path / "trials").read_bytes()
    assert quantize_model.quantize(*files, choices).written("tflite") == here.written("tflite")
    assert (tmp_path / "trials").read_bytes() == kept


def test_no_scheduler(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_WAIT_S", 0.2)
    with pytest.raises(UsageError, match=r"--scheduler: no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        quantize_model.quantize(*files, quantize_model.QuantizeOptions(scheduler="tcp://127.0.0.1:1"))


@pytest.mark.parametrize("address", ["host", "bogus://host:1", "tcp://host", ":"])
def test_no_address(files: tuple[Path, Path], address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "Client", None)
    with pytest.raises(UsageError, match=r"--scheduler: no Dask scheduler answers at"):
        quantize_model.quantize(*files, quantize_model.QuantizeOptions(scheduler=address))


def test_dask_is_not_installed(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="needs Dask") as caught:
        quantize_model.quantize(*files, quantize_model.QuantizeOptions(scheduler="tcp://127.0.0.1:1"))
    assert "pip install 'mcugen[dask]'" in caught.value.hint


def test_workers_of_another_version(address: str, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "__version__", "9.9")
    monkeypatch.setattr(distributed.Client, "run", lambda *_: {"tcp://w": "9.8"})
    with pytest.raises(UsageError, match=r"the worker tcp://w has mcugen 9\.8, not 9\.9"):
        quantize_model.quantize(*files, quantize_model.QuantizeOptions(scheduler=address))


def test_a_worker_that_dies_is_named() -> None:
    def lost() -> None:
        raise distributed.KilledWorker("task", SimpleNamespace(address="tcp://w"), 3)

    future = SimpleNamespace(result=lost)
    client = SimpleNamespace(map=lambda *_, **__: [future], cancel=lambda _: None)
    with pytest.raises(ToolError, match="a trial was lost: KilledWorker"):
        list(cluster._results(client, None, []))
