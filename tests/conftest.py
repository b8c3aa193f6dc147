"""Makes `tests.support` importable however pytest is started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--models", metavar="FOLDER", help="also check every model of a collection in this folder")
    parser.addoption("--whole", action="store_true", help="run all cases where a fixed sample is the rule")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests go first: short ones then keep all processes busy until the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The tests of a collection are there only when one was given, and then its absence is an error."""
    if collection_path.name != "test_collection.py":
        return None
    given = config.getoption("--models")
    if given and not Path(given).is_dir():
        raise pytest.UsageError(f"--models {given}: no such folder")
    return True if not given else None
