"""Input of exporters and report pages: one folder of emitted C, its models, and the facts of the build."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcugen.emit.view import ModelView
from mcugen.solve.plan import MemoryPlan
from mcugen.solve.schedule import Schedule


@dataclass(frozen=True, eq=False)
class ReportedModel:
    """A model of the folder: its view, and the schedule and memory plan behind it."""

    view: ModelView
    schedule: Schedule
    plan: MemoryPlan


@dataclass(frozen=True, eq=False)
class Output:
    """One folder of emitted C.

    name       the prefix of its C symbols; of several models that share their memory, the name of their union
    models     one, or several that share their memory
    sources    the C files to compile, by path relative to the folder, sorted; cpp_sources: those of C++
    headers    the headers of the interface, by path relative to the folder, sorted
    include    the folders to search for headers
    tested     the models that bring a recorded input
    libraries  the libraries to link with, without -l
    facts      what report.json holds; "files" is complete once content is asked for
    """

    name: str
    models: tuple[ReportedModel, ...]
    sources: tuple[str, ...]
    libraries: tuple[str, ...]
    facts: Mapping[str, Any]
    headers: tuple[str, ...] = ()
    include: tuple[str, ...] = (".",)
    tested: frozenset[str] = frozenset()

    @property
    def cpp_sources(self) -> tuple[str, ...]:
        behind = any(model.view.tflm for model in self.models)
        code = "" if self.include[0] == "." else f"{self.include[0]}/"
        return (f"{code}{self.name}_tflm.cc",) if behind else ()


Content = Callable[[Output], bytes]
"""Function that gives the content of one file, once the names of all files are known."""
