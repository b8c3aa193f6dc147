"""features.json: the front end of a model, for builds with --preprocess."""

from __future__ import annotations

import json
from functools import partial

from mcugen.report.output import Content, Output, ReportedModel

FILE = "features.json"


def files(output: Output) -> dict[str, Content]:
    """One file per model with a front end."""
    return {
        output.file_of(model, FILE): partial(_facts, model)
        for model in output.models
        if model.schedule.graph.front_end is not None
    }


def _facts(model: ReportedModel, _: Output) -> bytes:
    return (json.dumps(dict(model.schedule.graph.front_end or {}), indent=2) + "\n").encode()
