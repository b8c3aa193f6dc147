"""File of trial results, so that an interrupted run continues where it stopped."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError

_HINT = "give the file of an interrupted run with this model, samples and version, or a new name"


@dataclass
class ResultCache:
    """Results by key. Each is appended to the file at once, as a line of JSON. path: None for no file."""

    path: Path | None = None
    _found: dict[str, np.ndarray] = field(default_factory=dict)

    def get(self, key: str) -> np.ndarray | None:
        return self._found.get(key)

    def add(self, key: str, value: np.ndarray) -> None:
        self._found[key] = value
        if self.path is not None:
            _append(self.path, {"trial": key, "result": value.tolist()})


def opened(path: Path, origin: str) -> ResultCache:
    """Results in a file, which is created if needed. origin: identity of the run to which the results must belong.

    A last line that was cut off is dropped. Raises UsageError for a file of another run, or one that holds no results.
    """
    kept = ResultCache(path)
    if not path.exists() or path.stat().st_size == 0:
        _append(path, {"origin": origin})
        return kept
    whole, cut_off = _read(path)
    lines = _parsed(path, whole)
    if not lines or lines[0] != {"origin": origin}:
        raise UsageError("the file holds trials of another model, samples or version", where=str(path), hint=_HINT)
    for line in lines[1:]:
        if not isinstance(line, dict) or not {"trial", "result"} <= set(line):
            raise UsageError("the file holds lines that are no trials", where=str(path), hint=_HINT)
        kept._found[line["trial"]] = np.array(line["result"], np.float64)
    if cut_off:  # only now is it certain that the file holds trials
        path.write_text(whole, encoding="utf-8")
    return kept


def _read(path: Path) -> tuple[str, str]:
    """Whole lines of a file, and the rest of a line that was cut off."""
    try:
        whole, end, cut_off = path.read_text(encoding="utf-8").rpartition("\n")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read as trials: {error}", where=str(path), hint=_HINT) from error
    return whole + end, cut_off


def _parsed(path: Path, text: str) -> list[object]:
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError as error:
        raise UsageError(f"cannot be read as trials: {error}", where=str(path), hint=_HINT) from error


def _append(path: Path, line: object) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path), hint="check the path") from error
