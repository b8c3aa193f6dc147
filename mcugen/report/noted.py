"""Results of checks in a build's report.json. `verify`, `simulate` and `pareto` write them with --into."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcugen.errors import UsageError

RESULTS = ("verified", "simulated", "pareto")
_NOT_COMPARED = frozenset({*RESULTS, "files", "sums", "command"})
_OF_THE_MODEL = ("name", "board", "reference", "sha256")


def member(document: Mapping[str, Any], build: Mapping[str, Any], where: str, *, any_schedule: bool) -> dict[str, Any]:
    """The part of a report.json that is about a build. Raises UsageError if the folder holds another build.

    any_schedule: whether another schedule of the same model on the same board is accepted.
    """
    own = json.loads(json.dumps(build))
    found = [one for one in document.get("models", [document]) if one["name"] == own["name"]]
    keys = _OF_THE_MODEL if any_schedule else [key for key in own if key not in _NOT_COMPARED]
    differing = [key for key in keys if not found or found[0][key] != own[key]]
    if differing:
        raise UsageError(
            f"the folder holds another build: {_said(differing, found, own)}",
            where=where,
            hint="give the model and the options that the folder was built with; report.json there has the command",
        )
    one: dict[str, Any] = found[0]
    return one


def _said(differing: Sequence[str], found: Sequence[Mapping[str, Any]], own: Mapping[str, Any]) -> str:
    if not found:
        return f"it has no model {own['name']!r}"
    key = differing[0]
    plain = all(isinstance(one[key], str | int | float) for one in (found[0], own))
    return f"{key} is {found[0][key]!r} there and {own[key]!r} here" if plain else f"{key} differs"
