"""Runs work in forked processes while this process continues."""

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
"""Most processes that share a task. Each needs memory of its own."""


class Apart(Generic[T]):
    """Computes a function's result in a forked process. The process ends with the `with` block.

    No process is forked if only one processor may be used, if `is_possible` is false, or if the system refuses. In
    these cases, and if the forked process fails, `result` does the work in this process, so that errors are raised
    here. shared: objects that results refer to by identity rather than as copies. They must exist before the fork.
    is_worth_it: whether the work takes longer than starting a process. If false, no process is forked.
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
            except BaseException:  # an interrupt may arrive here too
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
            with suppress(EOFError, OSError):  # the process may end before it sends, or while it sends
                data = self._found.recv_bytes()
        return _loaded(data, self._shared) if data else self._work()

    def _send(self, end: Connection) -> None:
        self._found.close()  # otherwise the child would wait for a reader for ever if this process is killed
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent process reports the interrupt
        with suppress(Exception):
            end.send_bytes(_dumped(self._work(), self._shared))


def each(work: Callable[[int], T], count: int, shared: Iterable[object] = (), *, is_worth_it: bool = True) -> list[T]:
    """[work(0), work(1), ..., work(count - 1)], divided among one process per processor. For the rest see `Apart`."""
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
    """The results of pieces of work, in order. They run in pairs: the second of each pair runs in a forked process."""
    waiting, shared = iter(works), list(shared) if is_worth_it else []
    for work in waiting:
        if (following := next(waiting, None)) is None:
            yield work()
            return
        with Apart(following, shared, is_worth_it=is_worth_it) as other:
            yield work()
            yield other.result()


def is_possible() -> bool:
    """Whether forked processes can work in parallel with this one.

    False if Python threads run, since a fork loses them; on macOS, where system libraries may fail after a fork; in
    forked processes; and if only one processor may be used.
    """
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
    """Delays an interrupt (Ctrl-C) to the end of the block. Python would lose one that arrives during a fork."""
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
