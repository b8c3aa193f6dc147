"""Trials on the workers of a Dask cluster instead of local processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mcugen import __version__
from mcugen.errors import McugenError, ToolError, UsageError
from mcugen.quantize.cross_validation import Bench, Task, TaskPool
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.kept import ResultCache

_WAIT_S = 10
"""Seconds to wait for the scheduler, and for the first of its workers."""
_FLAG = "--scheduler"
_HINT = "run `dask scheduler`, and `dask worker ADDRESS` on machines where this version of mcugen is installed"


@contextmanager
def pool(bench: Bench, address: str, kept: ResultCache | None = None) -> Iterator[TaskPool]:
    """A pool whose tasks run on a cluster. address: its scheduler, such as `tcp://host:8786`; kept: earlier results.

    Raises UsageError if Dask is not installed, or no scheduler with workers answers at the address. The pool raises
    ToolError if a worker is lost.
    """
    with _client(address) as client:
        _require_workers(client, address)
        floats = bench.floats
        sent = FloatRun(floats.graph, floats.reference, floats.inputs, floats.which, floats.overrides, floats.older)
        shared = client.scatter(Bench(sent, bench.folds), broadcast=True)
        yield TaskPool(bench, lambda tasks: _results(client, shared, tasks), ResultCache() if kept is None else kept)


def require(address: str) -> None:
    """Raise UsageError if no pool can be made; for a check ahead of long work."""
    with _client(address) as client:
        _require_workers(client, address)


def result(task: Task, bench: Bench) -> np.ndarray:
    """Result of a task on a worker. bench: sent to each worker once, which keeps it for all tasks."""
    return bench.result(task)


def version() -> str:
    """Version of mcugen that a worker runs."""
    return __version__


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        import distributed
    except ImportError as error:
        raise UsageError(
            "running trials on a cluster needs Dask", where=_FLAG, hint="pip install 'mcugen[dask]'"
        ) from error
    # a client created with an invalid address cannot be closed
    _asked(lambda: distributed.comm.get_address_host_port(address, strict=True), address)
    client = _asked(lambda: distributed.Client(address, timeout=_WAIT_S, set_as_default=False), address)
    with client:
        yield client


def _asked(connect: Callable[[], Any], address: str) -> Any:
    try:
        return connect()
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"no Dask scheduler answers at {address!r}: {error}", where=_FLAG, hint=_HINT) from error


def _require_workers(client: Any, address: str) -> None:
    """Raise UsageError if there are no workers, or if a worker has another version of mcugen."""
    try:
        client.wait_for_workers(1, timeout=_WAIT_S)
    except TimeoutError as error:
        raise UsageError(f"the scheduler at {address} has no workers", where=_FLAG, hint=_HINT) from error
    hint = f"install mcugen {__version__} where the workers run"
    try:
        found = client.run(version)
    except ImportError as error:
        raise UsageError(f"the workers of {address} do not have mcugen: {error}", where=_FLAG, hint=hint) from error
    for worker, has in found.items():
        if has != __version__:
            raise UsageError(f"the worker {worker} has mcugen {has}, not {__version__}", where=_FLAG, hint=hint)


def _results(client: Any, shared: Any, tasks: Sequence[Task]) -> Iterator[np.ndarray]:
    """The results in the order of their tasks. Each is returned once all tasks up to its own are complete."""
    futures = client.map(result, tasks, bench=shared, pure=False)
    try:
        for future in futures:
            yield future.result()
    except McugenError:
        raise
    except Exception as error:
        raise ToolError(f"a trial was lost: {type(error).__name__}: {error}", where=_FLAG, hint=_HINT) from error
    finally:
        client.cancel(futures)
