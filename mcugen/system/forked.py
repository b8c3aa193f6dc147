"""Work that a fork of this process does while this one goes on."""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

T = TypeVar("T")


MOST_PARTS = 8
"""Processes, at most, that share in a task: each has its own memory."""


class Apart(Generic[T]):
    """A function's result computed in a forked process, which ends with the `with` block.

    There is none where one processor may be used, where `is_possible` says no or the system refuses one: then the work
    is done when its result is asked for. So it is where it fails apart, for an error to be this process's own.
    shared: what results may name without being copied. It is there before the fork, and keeps its identity.
    is_worth_it: whether the work takes longer than a process needs to start; without it there is none.
    """

    def __init__(self, work: Callable[[], T], shared: Iterable[object] = (), *, is_worth_it: bool = True) -> None:
        self._is_worth_it = is_worth_it
        self._work, self._shared = work, list(shared) if is_worth_it else []
        self._process: multiprocessing.process.BaseProcess | None = None

    def __enter__(self) -> Apart[T]:
        if self._is_worth_it and is_possible():
            try:
                self._start()
            except OSError:
                self._end()
            except BaseException:  # an interrupt may arrive here
                self._end()
                raise
        return self

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self._found, end = context.Pipe(duplex=False)
        with end, interrupts_kept():
            self._process = context.Process(target=self._send, args=(end,), daemon=True)
            self._process.start()

    def __exit__(self, *error: object) -> None:
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.pid is not None:
                process.kill()
                process.join()
            self._found.close()

    def result(self) -> T:
        """The result of the work."""
        data = b""
        if self._process is not None:
            with suppress(EOFError, OSError):  # the process may end before or while it sends
                data = self._found.recv_bytes()
        return _loaded(data, self._shared) if data else self._work()

    def _send(self, end: Connection) -> None:
        self._found.close()  # otherwise the child would wait for a reader for ever if this process is killed
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent process reports the interrupt
        with suppress(Exception):
            end.send_bytes(_dumped(self._work(), self._shared))


def each(work: Callable[[int], T], count: int, shared: Iterable[object] = (), *, is_worth_it: bool = True) -> list[T]:
    """work(0), work(1) ... work(count - 1), divided over one process per processor."""
    parts, shared = min(processors(), MOST_PARTS), list(shared) if is_worth_it else []

    def of(k: int) -> list[T]:
        return [work(at) for at in range(k, count, parts)]

    with ExitStack() as processes:
        apart = [
            processes.enter_context(Apart(partial(of, k), shared, is_worth_it=is_worth_it)) for k in range(1, parts)
        ]
        found = [of(0), *(other.result() for other in apart)]
    return [found[k % parts][k // parts] for k in range(count)]


def in_turn(
    works: Iterable[Callable[[], T]], shared: Iterable[object] = (), *, is_worth_it: bool = True
) -> Generator[T, None, None]:
    """The results of pieces of work, in order; each second piece runs in a forked process beside the one before it."""
    waiting, shared = iter(works), list(shared) if is_worth_it else []
    for work in waiting:
        if (following := next(waiting, None)) is None:
            yield work()
            return
        with Apart(following, shared, is_worth_it=is_worth_it) as other:
            yield work()
            yield other.result()


def is_possible() -> bool:
    """Whether a fork of this process can work in parallel: it loses Python threads, and on macOS system libraries may
    fail in it. Forked processes start no further ones."""
    can_fork = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    is_alone = threading.active_count() == 1 and not multiprocessing.current_process().daemon
    return can_fork and is_alone and processors() > 1


def is_under_way() -> bool:
    """Whether a forked process is working for this one now."""
    return bool(multiprocessing.active_children())


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Delay an interrupt to the end of the block: Python loses one that arrives during a fork."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came and callable(before):
        before(signal.SIGINT, None)


class _Pickler(pickle.Pickler):
    """Replaces shared objects by their indices."""

    def __init__(self, file: io.BytesIO, shared: Sequence[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._places = {id(item): k for k, item in enumerate(shared)}

    def persistent_id(self, item: object) -> int | None:
        return self._places.get(id(item))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: Sequence[object]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, place: Any) -> object:
        return self._shared[place]


def _dumped(found: object, shared: Sequence[object]) -> bytes:
    file = io.BytesIO()
    _Pickler(file, shared).dump(found)
    return file.getvalue()


def _loaded(data: bytes, shared: Sequence[object]) -> Any:
    return _Unpickler(io.BytesIO(data), shared).load()
