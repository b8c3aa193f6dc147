"""The jinja2 environment: templates loop and print; an undefined name is an error."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2

from mcugen import resources


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.templates()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render(template: str, **values: Any) -> bytes:
    """The text of a template, as UTF-8 with Unix line ends."""
    return _environment().get_template(template).render(**values).encode()


def text(template: str, **values: Any) -> str:
    """A template that is given as text, rendered."""
    return _environment().from_string(template).render(**values)
