"""Makes `tests.support` importable however pytest is started."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
gc.set_threshold(50_000, 20, 20)  # graphs and trees live long: looking through them as often as by default takes 7 %
os.environ.pop("MCUGEN_CACHE", None)  # every build of a test is computed
os.unsetenv("COLUMNS")  # set by readline, which pytest imports: what commands print would be fitted to it


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--models", metavar="FOLDER", help="also check every model of a collection in this folder")
    parser.addoption("--whole", action="store_true", help="run all cases where a fixed sample is the rule")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `emulated_core` runs on one core per instruction set, and on all of them with --whole."""
    if "emulated_core" in metafunc.fixturenames:
        from tests.support.cores import cores

        metafunc.parametrize("emulated_core", cores(metafunc.config.getoption("--whole")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without --whole, deselects tests marked `whole`, and all but each n-th case of those marked `sampled(n)`.

    All cases run where tests are named, by -k or as FILE::TEST. Long tests run first, so that short ones fill the end.
    """
    if not config.getoption("--whole"):
        seen = Counter[str]()
        named = bool(config.option.keyword) or any("::" in argument for argument in config.args)
        left_out = [
            item
            for item in items
            if item.get_closest_marker("whole") or (not named and _is_between_samples(item, seen))
        ]
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def _is_between_samples(item: pytest.Item, seen: Counter[str]) -> bool:
    """Whether a case lies between those of its test's sample. seen: cases of each test so far, counted here."""
    mark = item.get_closest_marker("sampled")
    if mark is None:
        return False
    test = item.nodeid.partition("[")[0]
    seen[test] += 1
    return (seen[test] - 1) % mark.args[0] != 0


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The tests of a collection are there only when one was given, and then its absence is an error."""
    if collection_path.name != "test_collection.py":
        return None
    given = config.getoption("--models")
    if given and not Path(given).is_dir():
        raise pytest.UsageError(f"--models {given}: no such folder")
    return True if not given else None
