"""memory.svg: the memory map of a model as a picture; with several models, one picture per model."""

from __future__ import annotations

from functools import partial

from mcugen.report import memory_map
from mcugen.report.output import Content, Output, ReportedModel

FILE = "memory.svg"


def files(output: Output) -> dict[str, Content]:
    """One picture per model."""
    return {output.file_of(model, FILE): partial(_picture, model) for model in output.models}


def _picture(model: ReportedModel, _: Output) -> bytes:
    return memory_map.picture(model.schedule, model.plan, model.view.name)
