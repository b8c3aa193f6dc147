# SPDX-License-Identifier: Apache-2.0
"""Writes README.md of this folder from the models and their vectors: `python tests/models/make_readme.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import tflite

FOLDER = Path(__file__).resolve().parent
_DTYPES = {
    tflite.TensorType.INT8: "s8",
    tflite.TensorType.UINT8: "u8",
    tflite.TensorType.INT16: "s16",
    tflite.TensorType.INT32: "s32",
    tflite.TensorType.INT64: "s64",
    tflite.TensorType.FLOAT16: "f16",
    tflite.TensorType.FLOAT32: "f32",
}
_HEAD = """# Test models

One small .tflite file per operator family, each with many independent nodes: odd sizes, SAME and VALID, strides 1 to
3, even kernels, dilation, depth multipliers, zero points at both ends of the range, fused activations, multipliers
above 1 and others that tell rounding once from rounding twice. Every result is a graph output.

| to make | run | with |
|---|---|---|
| the .tflite files | `python tests/models/make.py` (`--check` compares only) | the development environment |
| the .npz vectors | `python tests/models/make_vectors.py` | ai-edge-litert and tflite-micro; see its docstring |
| this page | `python tests/models/make_readme.py` | the development environment |

The scripts are deterministic. An .npz holds six input sets (`in{k}_{j}`), the outputs of LiteRT's reference
kernels (`litert{k}_{j}`) and TFLM's where they differ in any bit (`tflm{k}_{j}`); `tflm_state` says which, `runtimes`
the versions. The activation dtype is the first part of a file's name.

"""


def _operators(path: Path) -> tuple[str, str]:
    """(operator names with their count, dtypes of their activations and constants)."""
    model = tflite.Model.GetRootAs(path.read_bytes())
    graph = model.Subgraphs(0)
    names = {code: name for name, code in vars(tflite.BuiltinOperator).items() if not name.startswith("_")}
    ops = [graph.Operators(i) for i in range(graph.OperatorsLength())]
    found = [names[model.OperatorCodes(op.OpcodeIndex()).BuiltinCode()] for op in ops]
    dtypes = [_DTYPES[graph.Tensors(i).Type()] for i in range(graph.TensorsLength())]
    counted = [f"{name} {found.count(name)}" for name in dict.fromkeys(found)]
    return ", ".join(counted), " ".join(dict.fromkeys(dtypes))


def _state(path: Path) -> str:
    """tflm_state, with the number of elements that differ."""
    with np.load(path) as arrays:
        state = str(arrays["tflm_state"])
        if state != "differs":
            return state.replace("|", "\\|")
        keys = [key for key in arrays.files if key.startswith("tflm") and key != "tflm_state"]
        differing = sum(int(np.sum(arrays[key] != arrays["litert" + key[4:]])) for key in keys)
        total = sum(arrays[key].size for key in arrays.files if key.startswith("litert"))
        outputs = sorted({int(key.split("_")[1]) for key in keys})
        return f"differs: {differing} of {total} elements, outputs {' '.join(map(str, outputs))}"


def readme() -> str:
    """The text of README.md."""
    rows = ["| file | operators | dtypes | TFLM |", "|---|---|---|---|"]
    for path in sorted(FOLDER.glob("*.tflite")):
        operators, dtypes = _operators(path)
        rows.append(f"| {path.stem} | {operators} | {dtypes} | {_state(path.with_suffix('.npz'))} |")
    with np.load(FOLDER / "s8_add.npz") as arrays:
        versions = ", ".join(str(version) for version in arrays["runtimes"])
    return _HEAD + f"{len(rows) - 2} models; vectors of {versions}.\n\n" + "\n".join(rows) + "\n"


def main(arguments: list[str]) -> int:
    """Writes README.md; with `--check` only returns whether it is up to date."""
    path, text = FOLDER / "README.md", readme()
    if "--check" in arguments:
        return int(path.read_text(encoding="utf-8") != text)
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
