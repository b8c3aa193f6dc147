# SPDX-License-Identifier: Apache-2.0
"""Exported projects are built by their tools, from the folder alone, and print recorded outputs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import UsageError
from mcugen.machines.toolchain.process import run, run_checked
from mcugen.report import exports
from mcugen.system import resources
from tests.emit.built import model_file
from tests.exports.recorded import DIGITS, MODELS, ROOT, build, compiled, printed, same
from tests.support.tflite_writer import ModelWriter

FLOATS = "elu"
"""A float model, which calls the mathematical library."""
FOLDERS = sorted(path.parent for path in (resources.templates() / "exports").glob("*/export.toml"))
EMULATOR = "qemu-system-arm -M mps2-an386 -nographic -monitor none -semihosting-config enable=on,target=native"
CROSS = {
    "arm.cmake": f"""
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m4)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mthumb -O1")
set(vectors "-Wl,--section-start=.vectors=0 ${{CMAKE_CURRENT_LIST_DIR}}/vectors.o")
set(CMAKE_EXE_LINKER_FLAGS_INIT "--specs=rdimon.specs ${{vectors}}")
set(CMAKE_CROSSCOMPILING_EMULATOR {EMULATOR.replace(" ", ";")};-kernel)
""",
    "vectors.c": """
extern void _start(void);
__attribute__((section(".vectors"), used)) const void *const vectors[] = { (void *)0x400000, (void *)_start };
""",
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.20)
project(firmware LANGUAGES C)
enable_testing()
add_subdirectory(digits)
add_subdirectory(floats)
""",
}
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_export_is_a_folder_with_a_short_readme(folder: Path) -> None:
    made = compiled((folder.name,))
    readme = made.files[f"README-{folder.name}.md"].decode()
    assert readme.startswith("# ") and readme.count("\n") <= 20
    assert all(len(path) < 80 for path in made.files)
    listed = json.loads(made.files["report.json"])["files"]
    assert sorted(listed) == sorted(made.files)


def test_make_builds_two_models_and_compiles_their_kernels_once(tmp_path: Path) -> None:
    first = build(tmp_path / "a", "make")
    second = build(tmp_path / "b", "make", model=MODELS / "s8_softmax.tflite")
    assert set(first.emitted) & set(second.emitted) - {"examples/main.c"}
    (tmp_path / "main.c").write_text(
        '#include "digits.h"\n#include "s8_softmax.h"\nstatic digits_t d;\nstatic s8_softmax_t s;\n'
        "int main(void)\n{\n    return digits_selftest(&d) != 0 || s8_softmax_selftest(&s) != 0;\n}\n"
    )
    (tmp_path / "Makefile").write_text(
        "all: firmware\ninclude a/mcugen.mk\ninclude b/mcugen.mk\nCPPFLAGS += $(MCUGEN_CPPFLAGS)\n"
        "firmware: main.o $(MCUGEN_OBJECTS)\n\t$(CC) $(LDFLAGS) -o $@ $^ $(MCUGEN_LDLIBS)\n"
    )
    run_checked(["make", "-j2"], cwd=tmp_path)
    run_checked([tmp_path / "firmware"])
    run_checked(["make", "-f", "a/mcugen.mk", "digits_example"], cwd=tmp_path)
    assert same(run_checked([tmp_path / "build/mcugen/digits_example"]).stdout, first)


@pytest.mark.whole
def test_cmake_installs_for_find_package_and_fetches(tmp_path: Path) -> None:
    """A float model and an integer one in a project of C++ alone."""
    made = build(tmp_path / "floats", "cmake", model=model_file(FLOATS, tmp_path))
    installed, other = tmp_path / "installed", build(tmp_path / "digits", "cmake")
    run_checked(["cmake", "-S", tmp_path / "floats", "-B", tmp_path / "b", f"-DCMAKE_INSTALL_PREFIX={installed}"])
    run_checked(["cmake", "--build", tmp_path / "b", "--target", "install", "elu_example"])
    assert same(run_checked([tmp_path / "b" / "elu_example"]).stdout, made)
    shutil.rmtree(tmp_path / "floats")
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.cpp").write_text(
        '#include "digits.h"\n#include "elu.h"\nstatic digits_t d;\nstatic elu_t f;\n'
        "int main() { return digits_selftest(&d) != 0 || elu_selftest(&f) != 0; }\n"
    )
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.14)\nproject(firmware LANGUAGES CXX)\ninclude(FetchContent)\n"
        f'FetchContent_Declare(digits SOURCE_DIR "{tmp_path / "digits"}")\nFetchContent_MakeAvailable(digits)\n'
        "find_package(elu CONFIG REQUIRED)\nadd_executable(firmware main.cpp)\n"
        "target_link_libraries(firmware PRIVATE mcugen::digits mcugen::elu)\n"
    )
    run_checked(["cmake", "-S", project, "-B", tmp_path / "p", f"-DCMAKE_PREFIX_PATH={installed}"])
    run_checked(["cmake", "--build", tmp_path / "p"])
    run_checked([tmp_path / "p" / "firmware"])
    assert other.name == "digits"


@pytest.mark.whole
def test_cmake_for_another_machine(tmp_path: Path) -> None:
    """A toolchain file, two models in one project, ctest through the emulator, and outputs printed by the board."""
    made = build(tmp_path / "digits", "cmake", board="cortex-m4")
    build(tmp_path / "floats", "cmake", model=model_file(FLOATS, tmp_path), board="cortex-m4")
    for name, text in CROSS.items():
        (tmp_path / name).write_text(text)
    run_checked(["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-c", "vectors.c"], cwd=tmp_path)
    run_checked(["cmake", "-S", tmp_path, "-B", tmp_path / "b", "-DCMAKE_TOOLCHAIN_FILE=arm.cmake"])
    run_checked(["cmake", "--build", tmp_path / "b", "--target", "digits_example"])
    tested = run_checked(["ctest", "--test-dir", tmp_path / "b"]).stdout.decode()
    assert "digits_recorded" in tested and "elu_recorded" in tested and "100% tests passed" in tested
    assert same(run_checked([*EMULATOR.split(), "-kernel", tmp_path / "b/digits/digits_example"]).stdout, made)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["whole", "rows", "frames"])
def test_cpp_has_spans(tmp_path: Path, mode: str) -> None:
    model = ROOT / "examples/microphone/sweeps.tflite" if mode == "frames" else DIGITS
    made = build(tmp_path, "cpp", model=model, input_mode=mode)
    objects = [f"{source}.o" for source in made.emitted if source.endswith(".c") and source != "examples/main.c"]
    for out in objects:
        run_checked(["gcc", "-c", "-I.", "-ffp-contract=off", out.removesuffix(".o"), "-o", out], cwd=tmp_path)
    flags = ["-std=c++20", *WARNINGS, "-fno-exceptions", "-fno-rtti", "-I."]
    run_checked(["g++", *flags, "examples/main.cpp", *objects, "-lm", "-o", "program"], cwd=tmp_path)
    assert same(run_checked([tmp_path / "program"]).stdout, made)


def test_cpp_over_several_memories(tmp_path: Path) -> None:
    made = build(tmp_path, "cpp", board="cortex-m7", region="fast=1K,slow=64K")
    assert made.view.spread
    run_checked(["g++", "-std=c++20", *WARNINGS, "-I.", "-fsyntax-only", "examples/main.cpp"], cwd=tmp_path)


def test_cpp_of_floats_compiles_without_a_warning(tmp_path: Path) -> None:
    build(tmp_path, "cpp", model=MODELS / "f32_softmax.tflite")
    run_checked(["g++", "-std=c++20", *WARNINGS, "-I.", "-fsyntax-only", "examples/main.cpp"], cwd=tmp_path)


def test_programs_without_a_recorded_input_load_the_block_of_constants(tmp_path: Path) -> None:
    made = mcugen.compile(
        DIGITS, export=("cpp", "wasm", "arduino"), weights_blob=True, input_mode="rows", no_report=True
    )
    made.write(tmp_path)
    sources = [path for path in made.files if path.endswith(".c") and path.startswith("src/")]
    run_checked(["gcc", "-c", "-Isrc", *sources], cwd=tmp_path)
    flags = ["-std=c++20", *WARNINGS, "-Isrc"]
    objects = [Path(source).with_suffix(".o").name for source in sources]
    run_checked(["g++", *flags, "examples/main.cpp", *objects, "-lm", "-o", "program"], cwd=tmp_path)
    run_checked([tmp_path / "program"])
    main = "\nint main(void) { run(); return 0; }\n"
    (tmp_path / "wasm.c").write_text(made.files["wasm/module.c"].decode() + main)
    run_checked(["gcc", "-Wno-attributes", "-Isrc", "wasm.c", *objects, "-lm", "-o", "module"], cwd=tmp_path)
    run_checked([tmp_path / "module"])
    assert "digits_load(&model, digits_blob" in made.files["examples/digits/digits.ino"].decode()


def test_a_model_without_constants_is_validated(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, (1, 4), "f32") for name in "xy")
    m.op("RELU", [x], [y])
    (tmp_path / "bare.tflite").write_bytes(m.build([x], [y]))
    mcugen.compile(tmp_path / "bare.tflite", export=("validate",), no_report=True).write(tmp_path / "out")
    hooks = "#define MCUGEN_GET get\n#define MCUGEN_PUT put\nint get(void);\nvoid put(int byte);\n"
    use = "void answer(bare_t *m);\nvoid answer(bare_t *m) { bare_validate(m); }\n"
    (tmp_path / "line.c").write_text(f'{hooks}#include "bare_validate.h"\n{use}')
    run_checked(["gcc", *WARNINGS, "-Iout", "-fsyntax-only", "line.c"], cwd=tmp_path)


def test_wide_outputs_are_printed_as_stored(tmp_path: Path) -> None:
    """A float cannot hold all of 32 bits, so the header has no function that makes one of such an output."""
    m = ModelWriter()
    x, y = m.tensor("x", (1, 4), "s8", scale=0.5, zero_point=3), m.tensor("y", (1, 4), "s32", scale=0.25)
    m.op("QUANTIZE", [x], [y])
    (tmp_path / "wide.tflite").write_bytes(m.build([x], [y]))
    made = build(tmp_path / "out", "make", "cpp", model=tmp_path / "wide.tflite")
    assert made.view.outputs[0].scale and not made.view.outputs[0].is_narrow
    flags = f"CFLAGS=-O1 {' '.join(WARNINGS)}"
    run_checked(["make", "-f", "mcugen.mk", flags, "wide_example"], cwd=tmp_path / "out")
    assert same(run_checked([tmp_path / "out/build/mcugen/wide_example"]).stdout, made)


@pytest.mark.whole
def test_models_share_a_folder_of_kernels(tmp_path: Path) -> None:
    """Two builds, their kernels in one folder beside them; each build finds its own."""
    first = build(tmp_path / "a", "make", "cmake", kernels_dir="../kernels")
    second = build(tmp_path / "b", "make", model=MODELS / "s8_softmax.tflite", kernels_dir="../kernels")
    assert not list((tmp_path / "a").rglob("runtime_*.h")) and not (tmp_path / "b" / "kernels").exists()
    kernels = {path.name for path in (tmp_path / "kernels" / "kernels").iterdir()}
    both = {*first.emitted, *second.emitted}
    assert kernels == {path.removeprefix("kernels/") for path in both if path.startswith("kernels/")}
    for folder, made in (("a", first), ("b", second)):
        where = f"MCUGEN_BUILD={folder}x"
        run_checked(["make", "-f", f"{folder}/mcugen.mk", f"{made.name}_example", where], cwd=tmp_path)
        assert same(run_checked([tmp_path / f"{folder}x" / f"{made.name}_example"]).stdout, made)
    run_checked(["cmake", "-S", tmp_path / "a", "-B", tmp_path / "c"])
    run_checked(["cmake", "--build", tmp_path / "c", "--target", "digits"])


def test_models_in_one_zephyr_firmware_bring_common_kernels_once(tmp_path: Path) -> None:
    """Zephyr links libraries whole, so two objects of one function would clash."""
    made = [build(tmp_path / name, "zephyr", name=name) for name in ("one", "two")]
    script = "set(CONFIG_MCUGEN_ONE y)\nset(CONFIG_MCUGEN_TWO y)\ncmake_policy(VERSION 3.20)\n"
    for function in ("library_named", "library_compile_options", "include_directories"):
        script += f"function(zephyr_{function})\nendfunction()\n"
    script += "function(zephyr_library_sources)\n  message(${ARGN})\nendfunction()\n"
    script += "".join(f"include({tmp_path}/{name}/zephyr/CMakeLists.txt)\n" for name in ("one", "two"))
    (tmp_path / "both.cmake").write_text(script)
    done = run_checked(["cmake", "-P", tmp_path / "both.cmake"])
    named = [path for path in (done.stdout + done.stderr).decode().split() if path.startswith("../")]
    wanted = {f"../{path}" for one in made for path in one.emitted if path.endswith(".c") and "main.c" not in path}
    assert sorted(named) == sorted(wanted)


def test_a_changed_kernel_in_the_shared_folder_is_refused(tmp_path: Path) -> None:
    made = build(tmp_path / "a", "none", kernels_dir="../kernels")
    changed = sorted((tmp_path / "kernels" / "kernels").iterdir())[0]
    changed.write_text("/* mine */\n")
    with pytest.raises(UsageError, match="its text is not what mcugen writes"):
        made.write(tmp_path / "a")
    assert changed.read_text() == "/* mine */\n"
    changed.unlink()
    (tmp_path / "kernels" / "mine.txt").write_text("kept")
    made.write(tmp_path / "a")
    assert changed.is_file() and (tmp_path / "kernels" / "mine.txt").read_text() == "kept"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernels_dir": "/tmp"}, "not a relative path from the output folder"),
        ({"kernels_dir": "a b"}, "not a relative path from the output folder"),
        ({"kernels_dir": "../k", "amalgamate": True}, "contradicts"),
        ({"kernels_dir": "../k", "export": ("arduino",)}, "different folders"),
        ({"kernels_dir": "../k", "export": ("cmsis-pack",)}, "packs the output folder"),
    ],
)
def test_a_folder_of_kernels_that_cannot_be(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        mcugen.compile(DIGITS, **options)


def test_an_export_that_builds_on_another_writes_both() -> None:
    made = compiled(("cpp",))
    assert {"digits.hpp", "CMakeLists.txt", "README-cmake.md"} <= set(made.files)
    assert exports.names() == tuple(sorted(folder.name for folder in FOLDERS))


def test_exports_agree_on_where_the_c_stands(tmp_path: Path) -> None:
    """An export that wants the C in a folder of its own moves it for all."""
    made = build(tmp_path, "arduino", "cmake", "make")
    assert (tmp_path / "src" / "digits.c").is_file() and not (tmp_path / "digits.c").exists()
    run_checked(["make", "-f", "mcugen.mk", "digits_example"], cwd=tmp_path)
    assert same(run_checked([tmp_path / "build/mcugen/digits_example"]).stdout, made)
    command = (tmp_path / "examples" / "main.c").read_text().partition("parent folder:\n")[2].partition("*/")[0]
    line = " ".join(part.strip(" *\\") for part in command.splitlines())
    run_checked(["sh", "-c", line], cwd=tmp_path)
    assert same(run([tmp_path / "digits"]).stdout, made)
    assert len(printed(made)) == 10


ARM = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu", "cortex-a53"]


def test_linux_installs_a_library_and_a_service_also_for_64_bit_arm(tmp_path: Path) -> None:
    """A float model, compiled for another computer: ctest, a program of pkg-config's flags and the service."""
    made = build(tmp_path / "out", "linux", model=model_file(FLOATS, tmp_path), board="raspberry-pi-5")
    installed, here = tmp_path / "installed", tmp_path / "b"
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={tmp_path / 'out/linux/aarch64.cmake'}"
    run_checked(["cmake", "-S", tmp_path / "out/linux", "-B", here, toolchain])
    run_checked(["cmake", "--build", here])
    assert "100% tests passed" in run_checked(["ctest", "--test-dir", here]).stdout.decode()
    run_checked(["cmake", "--install", here, "--prefix", installed])
    pc = installed / "lib/pkgconfig" / f"{made.name}.pc"
    flags = run_checked(["pkg-config", "--cflags", "--libs", pc]).stdout.decode().split()
    assert "-lm" in flags
    run_checked(["aarch64-linux-gnu-gcc", tmp_path / "out/examples/main.c", *flags, "-o", tmp_path / "main"])
    assert same(run_checked([*ARM, tmp_path / "main"]).stdout, made)
    x = made.imported.type(made.imported.inputs[0])
    samples = np.random.default_rng(1).standard_normal((3, *x.shape)).astype(np.float32)
    served = run_checked([*ARM, installed / f"bin/{made.name}_service"], stdin=samples.tobytes()).stdout
    expected = np.stack([np.asarray(made.run(sample)) for sample in samples])
    assert np.allclose(np.frombuffer(served, np.float32), expected.reshape(-1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["rows", "frames"])
def test_the_service_of_pushed_inputs_compiles_without_a_warning(tmp_path: Path, mode: str) -> None:
    model = ROOT / "examples/microphone/sweeps.tflite" if mode == "frames" else DIGITS
    build(tmp_path, "linux", model=model, input_mode=mode)
    run_checked(["gcc", *WARNINGS, "-I.", "-fsyntax-only", "linux/service.c"], cwd=tmp_path)
