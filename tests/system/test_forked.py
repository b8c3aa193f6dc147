# SPDX-License-Identifier: Apache-2.0
"""Work in a fork of this process: what it finds, what goes wrong in it, and its end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from mcugen.system import forked
from mcugen.system.forked import Apart


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Simulates a process without threads and with two processors; no child may be left running."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(forked, "processors", lambda: 2)
    yield
    assert not multiprocessing.active_children()


def test_work_is_done_elsewhere_and_keeps_what_is_shared() -> None:
    shared, own = object(), object()
    with Apart(lambda: (os.getpid(), shared, [shared], bytes(200_000)), [own, shared]) as apart:
        pid, one, (other,), large = apart.result()
    assert pid != os.getpid() and one is other is shared and len(large) == 200_000


def test_an_error_is_raised_here() -> None:
    def work() -> None:
        raise ValueError(os.getpid())

    with Apart(work) as apart, pytest.raises(ValueError, match=str(os.getpid())):
        apart.result()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_work_whose_process_ends_is_done_here(end: signal.Signals) -> None:
    here = os.getpid()

    def work() -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), end)
        return os.getpid()

    with Apart(work) as apart:
        assert apart.result() == here


def test_what_cannot_be_sent_is_made_here() -> None:
    with Apart(lambda: lambda: os.getpid()) as apart:
        assert apart.result()() == os.getpid()


def test_the_process_ends_with_the_block() -> None:
    started = time.monotonic()
    with Apart(lambda: time.sleep(60)):
        assert len(multiprocessing.active_children()) == 1
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(("threads", "processors"), [(2, 8), (1, 1)])
def test_work_is_done_here_where_a_fork_would_not_do(
    threads: int, processors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: threads)
    monkeypatch.setattr(forked, "processors", lambda: processors)
    assert not forked.is_possible()
    with Apart(os.getpid) as apart:
        assert apart.result() == os.getpid()


def test_processors_are_those_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3})
    assert forked.processors() == 1


def test_work_whose_process_ends_while_it_sends_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def send(apart: Apart[int], end: Connection) -> None:
        os.write(end.fileno(), struct.pack("!i", 1000) + bytes(10))

    monkeypatch.setattr(Apart, "_send", send)
    with Apart(os.getpid) as apart:
        assert apart.result() == os.getpid()


def test_work_is_done_here_where_the_system_refuses_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError("too many processes")

    monkeypatch.setattr(os, "fork", refuse)
    with Apart(os.getpid) as apart:
        assert apart.result() == os.getpid()
    assert apart._found.closed


def test_a_process_does_not_outlive_the_one_that_it_works_for() -> None:
    """Even where that is killed, and what was found does not fit a pipe."""
    program = """
import os, signal
from mcugen.system import forked
forked.processors = lambda: 2
with forked.Apart(lambda: bytes(10_000_000)) as apart:
    print(apart._process.pid, flush=True)
    apart._found.poll(60)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    ended = time.monotonic() + 30
    while time.monotonic() < ended and Path(f"/proc/{int(done.stdout)}").exists():
        time.sleep(0.1)
    assert time.monotonic() < ended


def test_no_process_is_started_for_work_that_is_not_worth_it() -> None:
    with Apart(os.getpid, is_worth_it=False) as apart:
        assert not multiprocessing.active_children() and apart.result() == os.getpid()


def test_work_apart_starts_no_further_process() -> None:
    with Apart(forked.is_possible) as apart:
        assert forked.is_possible() and not apart.result()


@pytest.mark.parametrize("processors", [2, 3, 100])
def test_processors_share_a_task(processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are in order, and no process works on more than its part."""
    monkeypatch.setattr(forked, "processors", lambda: processors)
    parts, shared = min(processors, forked.MOST_PARTS), [object()]
    found = forked.each(lambda k: (k, os.getpid(), shared[0]), 20, shared)
    assert [k for k, _, _ in found] == [*range(20)] and all(item is shared[0] for _, _, item in found)
    by = [pid for _, pid, _ in found]
    assert by[0] == os.getpid() and len(set(by)) == parts and max(map(by.count, by)) <= -(-20 // parts)


@pytest.mark.parametrize("is_worth_it", [True, False])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_small_tasks_are_shared(count: int, is_worth_it: bool) -> None:
    assert forked.each(lambda k: k, count, is_worth_it=is_worth_it) == [*range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_each_second_piece_of_work_is_done_elsewhere(count: int) -> None:
    def work(k: int) -> tuple[int, int]:
        return k, os.getpid()

    found = [*forked.in_turn(partial(work, k) for k in range(count))]
    assert [k for k, _ in found] == [*range(count)]
    assert [pid == os.getpid() for _, pid in found] == [k % 2 == 0 for k in range(count)]


def test_pieces_of_work_that_nobody_asks_for_end() -> None:
    here = os.getpid()
    found = forked.in_turn([os.getpid, lambda: time.sleep(60), os.getpid])
    assert next(found) == here and len(multiprocessing.active_children()) == 1
    found.close()
    assert not multiprocessing.active_children()
