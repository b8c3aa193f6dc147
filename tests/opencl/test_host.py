# SPDX-License-Identifier: Apache-2.0
"""The OpenCL host: which calls a run makes, what happens when one fails, and what the program cache believes."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path

import pytest

from mcugen import pipeline
from mcugen.emit.opencl import host_files
from mcugen.errors import UsageError
from mcugen.machines.toolchain import opencl
from mcugen.options import Options

HERE = Path(__file__).resolve().parent
PART = b"PART = 1 << 22"
"""Bytes of constants that go to a device at a time: here fewer, so that they go in several parts."""
MODEL = HERE.parents[0] / "models" / "f32_pad.tflite"


def test_the_c_of_this_machine_is_not_what_opencl_builds_run() -> None:
    with pytest.raises(UsageError, match="opencl-generic runs OpenCL kernels"):
        pipeline.build(MODEL, Options(backend="opencl", name="net")).load()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("host")
    artifact = pipeline.build(MODEL, Options(backend="opencl", name="net"))
    view = artifact.view
    files = {path: text for path, text in artifact.emitted.items() if not path.startswith("examples/")}
    files |= {name: (HERE / name).read_bytes() for name in ("loader.c", "faults.c")}
    sent = files["kernels/opencl_memory.c"]
    assert PART in sent
    files["kernels/opencl_memory.c"] = sent.replace(PART, b"PART = 192")
    first_in, first_out = view.inputs[0], view.outputs[0]
    defines = {
        "MODEL_HEADER": '"net.h"',
        "MODEL_T": "net_t",
        "MODEL(f)": "MODEL_##f",
        "MODEL_input": first_in.function,
        "MODEL_output": first_out.function,
        "INPUT_BYTES": str(first_in.nbytes),
        "OUTPUT_BYTES": str(first_out.nbytes),
        "NET_WEIGHTS_FILE": f'"{folder}/net_weights.bin"',
        **{f"MODEL_{name}": f"net_{name}" for name in ("init", "run", "text", "deinit")},
    }
    flags = [f"-D{name}={value}" for name, value in defines.items()]
    return opencl.compile_program(files, folder, ["-std=gnu11", "-O1", *flags, "-rdynamic", "-ldl"])


def said(program: Path, cache: Path, fail: int = 0, **more: str) -> str:
    environment = {**os.environ, "MCUGEN_CL_CACHE": str(cache), "MCUGEN_FAIL": str(fail), **more}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def marks(text: str, title: str) -> dict[str, int]:
    line = next(line for line in text.splitlines() if line.startswith(f"{title}:"))
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", line)}


def test_a_run_allocates_nothing_sets_no_argument_and_copies_nothing(program: Path, tmp_path: Path) -> None:
    text = said(program, tmp_path)
    run = marks(text, "run")
    assert (run["allocate"], run["argument"]) == (0, 0)
    assert run["launch"] > 0
    assert run["copy"] == 0  # PoCL shares its memory with the host
    assert marks(text, "init")["argument"] > 0
    assert marks(text, "end")["objects"] == 0


def test_a_device_with_memory_of_its_own_gets_copies(program: Path, tmp_path: Path) -> None:
    """Constants in parts; and of a run the inputs and outputs, nothing else."""
    shared = said(program, tmp_path)
    text = said(program, tmp_path / "none", MCUGEN_OWN_MEMORY="1")
    assert text.splitlines()[-2] == shared.splitlines()[-2]
    assert marks(text, "init")["copy"] > 1
    run = marks(text, "run")
    assert (run["allocate"], run["argument"], run["map"]) == (0, 0, 0)
    assert run["copy"] > 1
    assert marks(text, "end")["objects"] == 0


@pytest.mark.whole
def test_each_call_may_fail_once(program: Path, tmp_path: Path) -> None:
    """A named error, everything released, and the next initialization right."""
    right = said(program, tmp_path)
    outputs = re.search(r"outputs \d+", right)
    assert outputs
    last = marks(right, "run")["calls"]
    listed = [*range(1, 12), *range(12, last, max(1, last // 12)), last - 2, last - 1, last]
    failed = 0
    for number in sorted(set(listed)):
        text = said(program, tmp_path / "none", number)
        assert outputs[0] in text, (number, text)
        assert marks(text, "end")["objects"] == 0, (number, text)
        if "said" in text:
            failed += 1
            assert re.search(r"said cl\w+ failed: CL_\w+", text), (number, text)
            assert marks(text, "failed")["objects"] == 0, (number, text)
    assert failed >= 10


def test_a_damaged_cache_costs_a_rebuild(program: Path, tmp_path: Path) -> None:
    outputs = said(program, tmp_path).splitlines()[-2]
    (file,) = tmp_path.glob("mcugen-*")
    whole = file.read_bytes()
    built = marks(said(program, tmp_path), "init")
    for damaged in (b"", whole[:30], whole[: len(whole) // 2], whole[:-1] + bytes([whole[-1] ^ 1]), whole + b"x"):
        file.write_bytes(damaged)
        assert said(program, tmp_path).splitlines()[-2] == outputs
        assert file.read_bytes()[:8] == whole[:8], "the cache was not written anew"
    assert built["argument"] > 0
    assert not list(tmp_path.glob("*.0x*"))


def test_hashes_are_sha256(tmp_path: Path) -> None:
    """Hashes of all lengths around one, two and three blocks."""
    files = {path: text for path, text in host_files().items() if path.endswith(("sha256.c", ".h"))}
    files["hashes.c"] = (HERE / "hashes.c").read_bytes()
    printed = opencl.run(opencl.compile_program(files, tmp_path)).decode().split()
    data = bytes(7 * k % 256 for k in range(200))
    assert printed == [hashlib.sha256(data[:size]).hexdigest() for size in range(200)]
