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
    """A model in the folder: its view, and the schedule and memory plan it was made from."""

    view: ModelView
    schedule: Schedule
    plan: MemoryPlan


@dataclass(frozen=True, eq=False)
class Output:
    """One folder of emitted C.

    name       prefix of its C symbols; for several models that share their memory, the name of their union
    models     one model, or several that share their memory
    sources    C files to compile, by path relative to the folder, sorted; cpp_sources: C++ files
    headers    public headers, by path relative to the folder, sorted
    include    folders to search for headers
    tested     names of models with a self-test
    libraries  names of libraries to link, without -l
    facts      content of report.json; "files" is complete when content functions are called
    """

    name: str
    models: tuple[ReportedModel, ...]
    sources: tuple[str, ...]
    libraries: tuple[str, ...]
    facts: Mapping[str, Any]
    headers: tuple[str, ...] = ()
    include: tuple[str, ...] = (".",)
    tested: frozenset[str] = frozenset()

    def file_of(self, model: ReportedModel, name: str) -> str:
        """The file of a page about one model. With several models, the model's name precedes the page's."""
        return name if len(self.models) == 1 else f"{model.view.name}_{name}"

    @property
    def cpp_sources(self) -> tuple[str, ...]:
        behind = any(model.view.tflm for model in self.models)
        code = "" if self.include[0] == "." else f"{self.include[0]}/"
        return (f"{code}{self.name}_tflm.cc",) if behind else ()


Content = Callable[[Output], bytes]
"""Function that gives the content of one file. It is called when the names of all files are known."""
