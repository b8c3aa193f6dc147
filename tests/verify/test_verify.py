"""The checks must notice: a planted difference is found, and named where it is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import ToolError, UsageError
from mcugen.oracle.stimuli import draw
from mcugen.pipeline import Artifact
from mcugen.verify import check_report, checks, delivered, emulated, golden, host
from mcugen.verify.cases import cases

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.tflite"


@pytest.fixture(scope="module")
def artifact() -> Artifact:
    # Kernels that clamp with these very fields.
    return mcugen.compile(DIGITS, board="cortex-m4", features="-dsp", optimize="flash")


def _changed(artifact: Artifact, path: str, old: bytes, new: bytes) -> Artifact:
    assert old in artifact.files[path]
    return dataclasses.replace(artifact, files={**artifact.files, path: artifact.files[path].replace(old, new, 1)})


def test_every_tensor_in_memory_is_compared(artifact: Artifact) -> None:
    verdict = host.verify(artifact, cases(artifact.imported, 1))
    computed = {name for node in artifact.imported.nodes for name in node.outputs}
    assert verdict.exact and verdict.cases == 9
    assert verdict.tensors + len(verdict.not_compared) + len(verdict.fused) == len(computed)
    many = dataclasses.replace(verdict, not_compared=tuple(f"c{k} 'gate'" for k in range(1200)))
    said, named = next(check_report._compared(many, False)), next(check_report._compared(many, True))
    assert said.startswith("  1,200 not visible in memory, ") and "and 1,197 more, all with --wide" in said
    assert said.count("'gate'") == 3 and named.count("'gate'") == 1200


def test_a_changed_clamp_is_found_in_its_layer(artifact: Artifact) -> None:
    step = next(s for s in artifact.schedule.steps if "conv2d" in s.choice.kernel.symbol)
    broken = _changed(artifact, f"{artifact.name}.c", b".out_min = -128", b".out_min = -127")
    verdict = host.verify(broken, cases(broken.imported, 4))
    assert not verdict.exact and verdict.first_difference is not None
    assert verdict.first_difference.step == step.index
    assert (verdict.first_difference.expected, verdict.first_difference.got) == (-128, -127)
    assert str(verdict.first_difference).startswith(verdict.first_difference.case)


def test_a_write_outside_the_arena_is_stopped_by_the_sanitizer(artifact: Artifact) -> None:
    size = f"_ARENA_SIZE {artifact.view.arena_size}".encode()
    smaller = f"_ARENA_SIZE {artifact.view.arena_size - 512}".encode()
    broken = _changed(artifact, f"{artifact.name}.h", size, smaller)
    with pytest.raises(ToolError, match="stopped") as caught:
        host.verify(broken, cases(broken.imported, 1))
    assert "AddressSanitizer" in caught.value.output


def test_the_emulated_core_is_compared_too(artifact: Artifact) -> None:
    broken = _changed(artifact, f"{artifact.name}.c", b".out_max = 127", b".out_max = 100")
    result = emulated.simulate(broken, list(cases(artifact.imported, 2)))
    assert not result.exact and result.repeatable
    assert result.verdict.first_difference is not None


def test_the_host_cannot_be_emulated() -> None:
    plain = mcugen.compile(DIGITS)
    with pytest.raises(UsageError, match="no emulated machine"):
        emulated.simulate(plain, list(cases(plain.imported, 1)))


def test_recorded_outputs_are_compared_with_the_oracle(artifact: Artifact, tmp_path: Path) -> None:
    from mcugen.oracle import interpreter

    inputs = draw(artifact.imported, 3)
    outputs = interpreter.run(artifact.imported, inputs, "tflm")[artifact.imported.outputs[0]]
    np.savez(tmp_path / "good.npz", in0_0=inputs[0], out0_0=outputs)
    assert golden.check(tmp_path / "good.npz", artifact.imported, "tflm").exact
    wrong = outputs.copy()
    wrong[0, 4] ^= 1
    np.savez(tmp_path / "bad.npz", in0_0=inputs[0], out0_0=wrong)
    verdict = golden.check(tmp_path / "bad.npz", artifact.imported, "tflm")
    assert not verdict.exact and verdict.first_difference is not None
    assert verdict.first_difference.index == (0, 4)


@pytest.mark.parametrize("content", [b"", b"not a zip", None])
def test_a_broken_recording_is_a_usage_error(artifact: Artifact, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "golden.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=r"golden\.npz"):
        golden.cases(path, artifact.imported)


def test_a_trace_needs_its_recording(artifact: Artifact) -> None:
    with pytest.raises(UsageError, match="--golden"):
        checks.verify(artifact, 0, None, Path("trace.json"), lambda text: None)


def test_the_compiler_of_the_board_reads_what_is_delivered(artifact: Artifact, tmp_path: Path) -> None:
    """It sees what only that core compiles, and what the hooks of a verification cover."""
    path = f"{artifact.name}.c"
    for k, (old, new, said) in enumerate(
        [
            (b"", b"", ""),
            (b"/* Runs one step.", b"#if defined(__arm__)\nint32_t at = mg_row;\n#endif\n/* Runs one step.", "mg_row"),
            (
                b"    switch (step) {",
                b"    const uint32_t seen = step;\n    MCUGEN_ROWS(0, 0, 0, seen, a);\n    switch (step) {",
                "seen",
            ),
        ]
    ):
        broken = _changed(artifact, path, old, new)
        folder = tmp_path / str(k)
        host.build_program(broken, folder)
        found = delivered.check(broken, folder)
        assert found is not None and (found.compiler, found.missing) == ("arm-none-eabi-gcc", "")
        assert all(said in fault and path in fault for fault in found.faults)
        assert bool(found.faults) == bool(said)


def test_a_board_whose_compiler_is_not_there_is_said_so(artifact: Artifact, tmp_path: Path) -> None:
    chain = dataclasses.replace(artifact.target.toolchain, prefix="no-such-core-")
    board = dataclasses.replace(artifact.target, toolchain=chain)
    found = delivered.check(dataclasses.replace(artifact, target=board), tmp_path)
    assert found is not None and found.faults == ()
    assert str(found).startswith("not read by the board's compiler: no-such-core-gcc")
