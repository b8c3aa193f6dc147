# SPDX-License-Identifier: Apache-2.0
"""Builds models into folders and makes programs of them, for the tests of the emitted code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mcugen
from mcugen.emit import sources_of
from mcugen.emit.view import ModelView
from mcugen.machines.toolchain.process import run_checked
from mcugen.pipeline import Artifact
from tests.formats import small_models

ROOT = Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wcast-align=strict", "-Wundef", "-Wpedantic", "-Werror"]
MODELS = ("digits", "image_net", "three_dense", "s8_split", "u8_conv_2d", "s16_add", "f32_conv_2d", "s8_shape_chain")


@dataclass(frozen=True)
class Built:
    """A build written to `folder`."""

    folder: Path
    artifact: Artifact

    @property
    def view(self) -> ModelView:
        return self.artifact.view

    @property
    def name(self) -> str:
        return self.artifact.name

    def sources(self) -> list[str]:
        """The C files of the model, relative to the folder."""
        return sources_of(self.artifact.files)

    def gcc(self, *arguments: str | Path) -> None:
        """Run gcc in the folder. Raises ToolError with its messages."""
        run_checked(["gcc", "-I.", *arguments], cwd=self.folder)

    def program(self, flags: Sequence[str] = ("-O2",), driver: str = "") -> Path:
        """Compile the model with a driver; by default one that maps stdin to stdout."""
        out = self.folder / f"program{len(list(self.folder.glob('program*')))}"
        source = out.with_suffix(".c")
        source.write_text(driver or transform(self.view))
        self.gcc(*flags, source, *self.sources(), "-lm", "-o", out)
        return out

    def inputs(self, seed: int = 0) -> bytes:
        """Random bytes for all inputs; floats get small numbers."""
        rng = np.random.default_rng(seed)
        return b"".join(_drawn(rng, end.c_type, end.length, end.nbytes) for end in self.view.inputs)


def _drawn(rng: np.random.Generator, c_type: str, length: int, nbytes: int) -> bytes:
    if c_type == "mg_f32":
        return rng.standard_normal(length).astype("<f4").tobytes()
    return rng.integers(0, 256, nbytes).astype(np.uint8).tobytes()


def model_file(model: str, folder: Path) -> Path:
    """The file of one of MODELS, written to `folder` where it is made and not kept."""
    if model == "digits":
        return ROOT / "examples/digits/digits.tflite"
    if (ROOT / f"tests/models/{model}.tflite").exists():
        return ROOT / f"tests/models/{model}.tflite"
    path = folder / f"{model}.tflite"
    path.write_bytes(getattr(small_models, model)())
    return path


def build(model: str, folder: Path, **choices: Any) -> Built:
    """Build one of MODELS into folder/out."""
    artifact = mcugen.compile(model_file(model, folder), **choices)
    artifact.write(folder / "out")
    return Built(folder / "out", artifact)


def build_bytes(data: bytes, folder: Path, file_name: str = "model.tflite", **choices: Any) -> Built:
    """Build the bytes of a model file into folder/out."""
    (folder / file_name).write_bytes(data)
    named = {"name": "model"} if file_name == "model.tflite" else {}  # else its folder names it
    artifact = mcugen.compile(folder / file_name, **{**named, **choices})
    artifact.write(folder / "out")
    return Built(folder / "out", artifact)


def transform(view: ModelView) -> str:
    """A program that reads the inputs from stdin and writes the outputs to stdout."""
    reads = [f"if (fread({e.function}(&m), 1, {e.macro}_SIZE, stdin) != {e.macro}_SIZE) return 1;" for e in view.inputs]
    writes = [f"fwrite({e.function}(&m), 1, {e.macro}_SIZE, stdout);" for e in view.outputs]
    return "\n".join(
        [
            "#include <stdio.h>",
            f'#include "{view.name}.h"',
            f"static {view.name}_t m;",
            "int main(void) {",
            *reads,
            f"{view.name}_run(&m);",
            *writes,
            "return 0; }",
            "",
        ]
    )
