"""The jinja2 environment for the templates. An undefined name in a template is an error."""

from __future__ import annotations

import io
import os
import pickle
import sys
import tempfile
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket

from mcugen.system import resources

_OPTIONS: dict[str, Any] = {
    "undefined": jinja2.StrictUndefined,
    "trim_blocks": True,
    "lstrip_blocks": True,
    "keep_trailing_newline": True,
    "autoescape": False,
}


class CompiledTemplates(jinja2.BytecodeCache):
    """Cache of compiled templates, in the folder where Python caches compiled modules of the template folder.

    Nothing is written if Python writes no compiled modules, or if it has no permission. A cached file is ignored if the
    template's text, the options or the versions differ.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(cache_from_source(str(folder / "template.py"))).parent
        self._made_by = sha256(repr((jinja2.__version__, _OPTIONS)).encode()).hexdigest()[:8]

    def path(self, key: str) -> Path:
        """Path of a template's compiled code. key: jinja2's key of the template."""
        return self._folder / f"{key[:16]}-{self._made_by}.{sys.implementation.cache_tag}.jinja"

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError, EOFError, pickle.UnpicklingError), self.path(bucket.key).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write a temporary file and rename it, so that no reader sees an incomplete file."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
            with os.fdopen(handle, "wb") as file:
                bucket.write_bytecode(file)
            os.replace(name, self.path(bucket.key))


@cache
def _environment() -> jinja2.Environment:
    folder = resources.templates()
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), bytecode_cache=CompiledTemplates(folder), **_OPTIONS
    )


def render(template: str, **values: Any) -> bytes:
    """The text of a template, as UTF-8 with Unix line ends."""
    out = io.BytesIO()
    for piece in _environment().get_template(template).generate(**values):
        out.write(piece.encode())
    return out.getvalue()


def text(template: str, **values: Any) -> str:
    """The result of rendering a template that is given as text."""
    return _given(template).render(**values)


@lru_cache(maxsize=64)
def _given(template: str) -> jinja2.Template:
    """The template for a text. It is cached, since all schedules of a model render the same templates."""
    return _environment().from_string(template)
