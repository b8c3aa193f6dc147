"""Keyword arguments of `mcugen.compile` and `mcugen.load`, as type checkers see them."""

from __future__ import annotations

import dataclasses
import types
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import mcugen
from mcugen import errors
from mcugen.options import Choices, Options


def test_each_option_has_its_type() -> None:
    hints = get_type_hints(Choices)
    fields = {item.name: item for item in dataclasses.fields(Options)}
    assert list(hints) == list(fields)
    for name, hint in hints.items():
        allowed = set(fields[name].metadata.get("choices", ()))
        if allowed:
            assert get_origin(hint) is Literal and set(get_args(hint)) == allowed | {fields[name].default}
        elif name == "input_shape":
            assert get_type_hints(Options)[name] == tuple[str, ...]  # Python takes more: shape_texts of options
        else:
            assert hint == get_type_hints(Options)[name]


def test_the_package_is_typed_and_its_errors_are_exported() -> None:
    assert (Path(mcugen.__file__).parent / "py.typed").is_file()
    every = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert every <= set(mcugen.__all__)
    assert not {name for name in mcugen.__all__ if isinstance(getattr(mcugen, name), types.ModuleType)}
