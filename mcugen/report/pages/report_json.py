"""report.json: the facts of a build."""

from __future__ import annotations

import json

from mcugen.report.output import Content, Output
from mcugen.system.output_folder import REPORT


def files(output: Output) -> dict[str, Content]:
    """The facts as JSON."""
    return {REPORT: _json}


def _json(output: Output) -> bytes:
    return (json.dumps(output.facts, indent=2) + "\n").encode()
