# SPDX-License-Identifier: Apache-2.0
"""Damages model files and builds them in forked workers that hold limits on time and memory."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mcugen
from mcugen.errors import InternalError, McugenError
from tests.formats import small_models

CPU_SECONDS = 5.0  # a slow machine plans the widest of these networks in 3
WALL_SECONDS = 20.0  # generous: other programs may share the machine, CPU_SECONDS is the limit that matters
MEMORY_BYTES = 500_000_000
BUILT, REFUSED, FAILED = "built", "refused", "failed"


@dataclass(frozen=True)
class Verdict:
    """The outcome of one damaged file: built, refused with a McugenError, or failed (text: how)."""

    case: int
    kind: str
    text: str


def truncations(data: bytes) -> list[bytes]:
    """The file cut at every byte."""
    return [data[:size] for size in range(len(data))]


def flips(data: bytes, count: int, seed: int, first: int = 0) -> list[bytes]:
    """Files number first .. first + count of the endless series `seed`, each with one to three bytes changed."""
    return [_flipped(data, np.random.default_rng([seed, case])) for case in range(first, first + count)]


def _flipped(data: bytes, rng: np.random.Generator) -> bytes:
    damaged = bytearray(data)
    for place in rng.integers(0, len(data), rng.integers(1, 4)):
        damaged[place] ^= int(rng.integers(1, 256))
    return bytes(damaged)


def judge(files: Sequence[bytes], jobs: int = 2, name: str = "damaged.tflite", **choices: Any) -> list[Verdict]:
    """Build every file in `jobs` forked workers; a worker that dies is replaced and its case has failed.

    name: that of the file, whose suffix is the format.
    """
    choices |= {"file": name}
    _first_builds(name)  # before the fork, so that workers share it
    parts = [range(k * len(files) // jobs, (k + 1) * len(files) // jobs) for k in range(jobs)]
    pipes = [_fork_supervisor(files, part, choices) for part in parts]
    return [verdict for pipe in pipes for verdict in _verdicts(pipe)]


def _first_builds(name: str) -> None:
    """A build and a refusal, so that no case takes the time in which a process first loads what builds need."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "first.tflite").write_bytes(small_models.three_dense())
        mcugen.compile(Path(folder) / "first.tflite")
        (Path(folder) / name).write_bytes(b"")
        with contextlib.suppress(McugenError):
            mcugen.compile(Path(folder) / name)


def failures(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [v for v in verdicts if v.kind == FAILED]


def _verdicts(pipe: int) -> Iterator[Verdict]:
    with os.fdopen(pipe, encoding="utf-8") as lines:
        for line in lines:
            case, kind, text = line.rstrip("\n").split("\t", 2)
            yield Verdict(int(case), kind, text.replace("\\n", "\n"))


def _fork_supervisor(files: Sequence[bytes], part: range, choices: dict[str, Any]) -> int:
    """A process that runs workers over `part`, one after the other, until every case has a verdict."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        done = 0
        while done < len(part):
            done += _run_worker(files, part[done:], choices, writer)
        os._exit(0)
    os.close(writer)
    return reader


def _run_worker(files: Sequence[bytes], part: range, choices: dict[str, Any], writer: int) -> int:
    """Fork one worker, pass on its verdicts, and return how many cases are now judged."""
    source, sink = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(source)
        _work(files, part, choices, sink)
        os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as lines:
        text = lines.read()
    status = os.waitpid(worker, 0)[1]
    done = text.count(b"\n")
    if done < len(part):
        cause = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit status {status}"
        text += f"{part[done]}\t{FAILED}\tended by {cause}\n".encode()
        done += 1
    with os.fdopen(os.dup(writer), "wb") as out:
        out.write(text)
    return done


def _work(files: Sequence[bytes], part: range, choices: dict[str, Any], sink: int) -> None:
    _limit_memory(sum(map(len, files)))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with os.fdopen(sink, "w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / str(choices["file"])
        choices = {key: value for key, value in choices.items() if key != "file"}
        for case in part:
            path.write_bytes(files[case])
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
            kind, text = attempt(path, choices)
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            flat = text.replace("\t", " ").replace("\r", " ").replace("\n", "\\n")
            out.write(f"{case}\t{kind}\t{flat}\n")
            out.flush()


def attempt(path: Path, choices: dict[str, Any]) -> tuple[str, str]:
    """Build one file. A defect of mcugen (InternalError) and every other exception is a failure."""
    try:
        mcugen.compile(path, **choices)
    except InternalError:
        return FAILED, traceback.format_exc()
    except McugenError as error:
        return REFUSED, f"{type(error).__name__}: {error}"
    except BaseException:
        return FAILED, traceback.format_exc()
    return BUILT, ""


def _limit_memory(held: int) -> None:
    """Leave room for MEMORY_BYTES less what is resident already; what the interpreter only mapped does not count, nor
    the bytes `held` of all the files.
    """
    pages = [int(word) for word in Path("/proc/self/statm").read_text().split()[:2]]
    mapped, resident = (count * resource.getpagesize() for count in pages)
    limit = mapped - resident + held + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
