"""`mcugen features`: the features of sounds, motion or images for training, as the firmware computes them."""

from __future__ import annotations

from pathlib import Path

import click

from mcugen.cli._common import emit, json_option, require_places, samples_option, write
from mcugen.cli._console import progress


@click.command("features")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--preprocess", "words", required=True, metavar="WORDS", help="Words that make features; see docs/samples.md."
)
@click.option("-o", "--output", "file", required=True, type=click.Path(path_type=Path), help="The .npz to write.")
@samples_option
@json_option
def COMMAND(folder: Path, words: str, file: Path, limit: int | None, as_json: bool) -> None:
    """Write the features of a FOLDER of sounds, motion or images for training, with the bits of the firmware.

    The .npz has x [n, ...] in float32, y [n] with classes if there is a folder for each, and a hash of the words, their
    tables and arithmetic. `quantize`, `evaluate` and `build` refuse features of another hash.

    \b
      mcugen features words/ --preprocess "mfcc(window=30ms,hop=20ms)" -o x.npz
    """
    from mcugen.samples import feature_files

    require_places({"-o": file}, (folder,))
    with progress("computing", quiet=as_json) as update:
        update(folder.name)
        made = feature_files.of(folder, words, limit)
        write(file, made.as_npz())
    facts = {
        "written": str(file),
        "shape": list(made.values.shape),
        "classes": list(made.identity.classes),
        "words": made.identity.words,
        "rate": made.identity.rate,
        "sha256": made.identity.sha256,
    }
    lines = [f"written: {file}, features {list(made.values.shape)} of {made.identity.words}"]
    lines += [f"  hash     {made.identity.sha256}"]
    if made.labels is not None:
        lines += [f"  classes  {', '.join(f'{k} {name}' for k, name in enumerate(made.identity.classes))}"]
    emit(facts, lines, as_json=as_json)
