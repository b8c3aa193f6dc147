# SPDX-License-Identifier: Apache-2.0
"""Records what the reference runtimes compute on the models of this folder: `<model>.npz` beside `<model>.tflite`.

Run it with a Python that has the runtimes, which nothing else here needs:

    python -m venv runtimes && runtimes/bin/pip install numpy ai-edge-litert tflite-micro
    runtimes/bin/python tests/models/make_vectors.py [model ...]

Keys of an .npz:  in{k}_{j}  input set k, graph input j ·  litert{k}_{j}  output j of LiteRT's reference kernels
·  tflm{k}_{j}  output j of TFLM, only where it differs in a bit  ·  tflm_state  "equal", "differs" or
"refused: <reason>"  ·  runtimes  the versions.
Input sets: 0 to 2 random over the full range (f32: standard normal), 3 all smallest, 4 all largest, 5 alternating
(f32: normal times 1000, normal times 1e-12, alternating -10 and 10).
Inputs named shape_1_2_3 carry that shape; inputs named index_below_4 take values 0 to 3.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent
SETS = 6
_RUN_LIMIT_S = 60

Arrays = dict[str, np.ndarray[Any, Any]]


def make_inputs(name: str, shape: tuple[int, ...], dtype: Any, k: int, seed: int) -> np.ndarray[Any, Any]:
    """Input set k of one graph input."""
    kind, _, rest = name.partition("_")
    if kind == "shape":
        return np.array([int(n) for n in rest.split("_")], dtype)
    rng = np.random.default_rng((seed, k))
    if np.issubdtype(dtype, np.floating):
        return _float_input(rng, shape, k).astype(dtype)
    limits = np.iinfo(dtype)
    low, high = (0, int(rest.removeprefix("below_")) - 1) if kind == "index" else (limits.min, limits.max)
    if k < 3:
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    if k < 5:
        return np.full(shape, low if k == 3 else high, dtype)
    return np.where(np.arange(int(np.prod(shape))) % 2, low, high).reshape(shape).astype(dtype)


def _float_input(rng: np.random.Generator, shape: tuple[int, ...], k: int) -> np.ndarray[Any, Any]:
    if k == 5:
        return np.where(np.arange(int(np.prod(shape))) % 2, -10.0, 10.0).reshape(shape)
    return rng.standard_normal(shape) * (1.0, 1.0, 1.0, 1e3, 1e-12)[k]


def run_litert(path: Path) -> Arrays:
    """Inputs and LiteRT's outputs of every set."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kernels = OpResolverType.BUILTIN_REF
    interpreter = Interpreter(str(path), experimental_op_resolver_type=kernels, num_threads=1)
    interpreter.allocate_tensors()
    arrays: Arrays = {}
    for k in range(SETS):
        for j, detail in enumerate(interpreter.get_input_details()):
            seed = zlib.crc32(f"{path.stem}/{j}".encode())
            value = make_inputs(detail["name"], tuple(detail["shape"]), detail["dtype"], k, seed)
            interpreter.set_tensor(detail["index"], value)
            arrays[f"in{k}_{j}"] = value
        interpreter.invoke()
        for j, detail in enumerate(interpreter.get_output_details()):
            arrays[f"litert{k}_{j}"] = interpreter.get_tensor(detail["index"])
    return arrays


def run_tflm(path: Path, arrays: Arrays) -> Arrays:
    """TFLM's outputs of every set, on the recorded inputs."""
    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_file(str(path))
    results: Arrays = {}
    for k in range(SETS):
        for j in range(sum(key.startswith(f"in{k}_") for key in arrays)):
            interpreter.set_input(arrays[f"in{k}_{j}"], j)
        interpreter.invoke()
        for j in range(sum(key.startswith(f"litert{k}_") for key in arrays)):
            results[f"tflm{k}_{j}"] = interpreter.get_output(j)
    return results


def record(path: Path) -> str:
    """Writes the .npz of one model and returns its tflm_state."""
    with tempfile.TemporaryDirectory() as folder:
        litert, tflm = Path(folder, "litert.npz"), Path(folder, "tflm.npz")
        reason = _in_child("litert", path, litert, litert)
        if reason:
            raise RuntimeError(f"{path.name}: LiteRT refuses it: {reason}")
        arrays = dict(np.load(litert))
        reason = _in_child("tflm", path, litert, tflm)
        state, differing = _compare(arrays, {} if reason else dict(np.load(tflm)), reason)
    versions = [f"{p} {importlib.metadata.version(p)}" for p in ("ai-edge-litert", "tflite-micro")]
    _save(
        path.with_suffix(".npz"), arrays | differing | {"tflm_state": np.array(state), "runtimes": np.array(versions)}
    )
    return state


def _compare(arrays: Arrays, tflm: Arrays, reason: str) -> tuple[str, Arrays]:
    if reason:
        return f"refused: {reason}", {}
    differing = {key: value for key, value in tflm.items() if not _same_bits(value, arrays["litert" + key[4:]])}
    return ("differs" if differing else "equal"), differing


def _same_bits(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _save(path: Path, arrays: Arrays) -> None:
    np.savez_compressed(path, allow_pickle=False, **arrays)


def _in_child(runtime: str, path: Path, vectors: Path, result: Path) -> str:
    """Runs one runtime in a process of its own, since both may crash; returns why it failed, or nothing."""
    command = [sys.executable, __file__, "--child", runtime, str(path), str(vectors), str(result)]
    child = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_RUN_LIMIT_S)
    if result.exists() and child.returncode == 0:
        return ""
    if child.returncode < 0:
        return f"crashed with signal {-child.returncode}"
    return _short_reason(child.stdout + child.stderr)


def _short_reason(text: str) -> str:
    """The runtime's own first complaint, without its file names and the Python traceback."""
    lines = [line.strip() for line in text.splitlines()]
    error = [line.partition("Error: ")[2] for line in lines if line.startswith(("RuntimeError: ", "ValueError: "))]
    noise = ("Traceback", "File ", "INFO", "WARNING")
    useful = [line for line in lines if line and not line.startswith(noise)]
    said_first = useful[0] if useful and text.find(useful[0]) < text.find("Traceback") else ""
    return (said_first or (error or ["no message"])[-1]).rpartition("tensorflow/")[2][:200]


def _child(runtime: str, path: Path, vectors: Path, result: Path) -> None:
    _save(result, run_litert(path) if runtime == "litert" else run_tflm(path, dict(np.load(vectors))))


def main(arguments: list[str]) -> None:
    """Records the named models, or all of the folder, and prints a line for each."""
    if arguments[:1] == ["--child"]:
        _child(arguments[1], *(Path(p) for p in arguments[2:]))
        return
    for path in [FOLDER / f"{name}.tflite" for name in arguments] or sorted(FOLDER.glob("*.tflite")):
        print(f"{path.stem:34} {record(path)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
