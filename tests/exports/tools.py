# SPDX-License-Identifier: Apache-2.0
"""Builds the exports that need tools beyond those of the tests: python -m tests.exports.tools ENVIRONMENT [NAME ...].

A check is a function with the name of what it builds; its docstring says what the tool did.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree

from mcugen.errors import ToolError
from mcugen.machines.toolchain.process import run_checked
from mcugen.verify import checks as verification
from tests.exports import pio
from tests.exports.recorded import DIGITS, MODELS, build, compiled, printed, same

FLOATS = MODELS / "f32_softmax.tflite"
WASMTIME = """
import sys, wasmtime
store = wasmtime.Store()
linker = wasmtime.Linker(store.engine)
linker.define_wasi()
store.set_wasi(wasmtime.WasiConfig())
module = wasmtime.Module.from_file(store.engine, sys.argv[1])
f = linker.instantiate(store, module).exports(store)
if "_initialize" in f:
    f["_initialize"](store)
assert f["selftest"](store) == 0
at = f["output"](store, 0)
print(" ".join(str(b - 256 if b > 127 else b) for b in f["memory"].read(store, at, at + f["output_size"](store, 0))))
"""
KCONFIG = """
import sys, kconfiglib
top = sys.argv[1] + ".top"
zephyr = "config MAIN_STACK_SIZE\\n\\tint 'Stack'\\nconfig REQUIRES_FLOAT_PRINTF\\n\\tbool 'Floats'\\n"
open(top, "w").write(zephyr + "source '%s'\\n" % sys.argv[1])
k = kconfiglib.Kconfig(top, warn_to_stderr=False)
k.load_config(sys.argv[2])
assert k.syms["MCUGEN_DIGITS"].str_value == "y" and not k.warnings, k.warnings
"""
MODULE_SCHEMA = """
type: map
mapping:
  name: {type: str, required: true}
  build:
    type: map
    mapping: {cmake: {type: str}, kconfig: {type: str}}
  samples: {type: seq, sequence: [{type: str}]}
"""
# Zephyr's functions in a few lines of CMake: the module's file runs as it stands, and its library is linked.
ZEPHYR = """
cmake_minimum_required(VERSION 3.13)
project(stand_in C)
set(CONFIG_MCUGEN_DIGITS y)
function(zephyr_library_named name)
  add_library(module STATIC)
endfunction()
function(zephyr_library_sources)
  target_sources(module PRIVATE ${ARGN})
endfunction()
function(zephyr_library_compile_options)
  target_compile_options(module PRIVATE ${ARGN})
endfunction()
function(zephyr_include_directories folder)
  target_include_directories(module PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
endfunction()
add_subdirectory(@FOLDER@/zephyr module)
add_executable(example @FOLDER@/examples/main.c)
target_link_libraries(example module m)
"""


def rust(folder: Path, tools: Path) -> None:
    """cargo built the crate and its example, which printed the recorded output"""
    made = build(folder, "rust")
    done = run_checked(["cargo", "run", "-q", "--offline", "--example", "digits_example"], cwd=folder, timeout_s=300)
    assert same(done.stdout, made, 1e-6)


def wasm(folder: Path, tools: Path) -> None:
    """zig built the module; wasmtime and Chromium ran it, with the bytes of the emulated Cortex-M4"""
    made = build(folder, "wasm")
    run_checked(["make", "-C", folder / "wasm", f"CC={tools}/bin/python -m ziglang cc"], timeout_s=600)
    end = made.view.outputs[0]
    expected = " ".join(str(round(value / float(end.scale.rstrip("f"))) + end.zero) for _, value in printed(made))
    script = folder / "run.py"
    script.write_text(WASMTIME)
    ran = run_checked([tools / "bin" / "python", script, folder / "wasm" / "digits.wasm"], timeout_s=120).stdout
    assert ran.decode().strip() == expected, (ran, expected)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder / "wasm")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = f"http://localhost:{server.server_address[1]}/#recorded"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=8000", "--dump-dom"]
    shown = run_checked(["chromium", *flags, f"--user-data-dir={folder}/profile", page], timeout_s=120).stdout.decode()
    server.shutdown()
    assert "<title>selftest 0</title>" in shown and f'<pre id="bytes">{expected}</pre>' in shown, shown[:3000]
    assert verification.simulate(compiled(("none",), board="cortex-m4"), 2, None, "-O2", lambda _: None).agrees


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        pass


def platformio(folder: Path, tools: Path) -> None:
    """pio packed the library; pio run built two projects, by a local platform, which printed recorded outputs"""
    made = build(folder, "platformio")
    run_checked([tools / "bin" / "pio", "pkg", "pack", "-o", folder.parent / "packed.tar.gz", folder], timeout_s=120)
    floats = build(folder.parent / "floats", "platformio", model=FLOATS)
    values = pio.write(folder.parent / "pio", tools)
    command = ["env", *(f"{name}={value}" for name, value in values.items()), tools / "bin" / "pio", "run"]
    for library, expected in ((folder, made), (folder.parent / "floats", floats)):
        project = folder.parent / f"{expected.name}_project"
        (project / "src").mkdir(parents=True)
        shutil.copy(library / "examples" / "main.c", project / "src")
        sections = f"platform = symlink://{folder.parent}/pio/platform\nlib_deps = symlink://{library}\n"
        (project / "platformio.ini").write_text(f"[env:firmware]\n{sections}")
        run_checked([*command, "-d", project], timeout_s=300)
        assert same(run_checked([project / ".pio/build/firmware/program"]).stdout, expected)


def esp_idf(folder: Path, tools: Path) -> None:
    """compote packed the component, with its manifest checked"""
    build(folder, "esp-idf")
    run_checked([tools / "bin" / "compote", "component", "pack", "--name", "digits"], cwd=folder, timeout_s=120)
    packed = folder / "dist" / "digits_1.0.0.tgz"
    names = run_checked(["tar", "-tzf", packed]).stdout.decode()
    assert "CMakeLists.txt" in names and "kernels/" in names and "idf_component.yml" in names


def zephyr(folder: Path, tools: Path) -> None:
    """kconfiglib read Kconfig and prj.conf, pykwalify module.yml; cmake built the module on a stand-in for Zephyr"""
    made = build(folder, "zephyr")
    (folder / "kconfig.py").write_text(KCONFIG)
    python, config = tools / "bin" / "python", folder / "zephyr" / "sample" / "prj.conf"
    run_checked([python, folder / "kconfig.py", folder / "zephyr" / "Kconfig", config])
    (folder / "schema.yml").write_text(MODULE_SCHEMA)
    run_checked([tools / "bin" / "pykwalify", "-d", folder / "zephyr/module.yml", "-s", folder / "schema.yml"])
    project = folder / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(ZEPHYR.replace("@FOLDER@", str(folder)))
    run_checked(["cmake", "-S", project, "-B", project / "build"])
    run_checked(["cmake", "--build", project / "build"])
    assert same(run_checked([project / "build" / "example"]).stdout, made)


def cmsis_pack(folder: Path, tools: Path) -> None:
    """xmllint found the description well formed; gcc compiled the files that it lists"""
    made = build(folder, "cmsis-pack")
    description = folder / "mcugen.digits.pdsc"
    run_checked(["xmllint", "--noout", description])
    files = ElementTree.parse(description).iter("file")
    by_kind = [(file.get("category", ""), file.get("name", "")) for file in files]
    folders = [f"-I{name}" for kind, name in by_kind if kind == "include"]
    _compiled(folder, [*folders, *(name for kind, name in by_kind if kind == "sourceC")])
    assert all((folder / name).exists() for _, name in by_kind)
    assert same(run_checked([folder / "program"]).stdout, made)


def _compiled(folder: Path, arguments: list[str]) -> None:
    command = ["gcc", "-std=c99", "-ffp-contract=off", *arguments, "examples/main.c", "-lm", "-o", "program"]
    run_checked(command, cwd=folder)


def windows(folder: Path, tools: Path) -> None:
    """zig compiled and linked the C for Windows on x86-64"""
    _cross(folder, tools, "x86_64-windows-gnu", b"MZ")


def macos(folder: Path, tools: Path) -> None:
    """zig compiled and linked the C for macOS on Apple's processors"""
    _cross(folder, tools, "aarch64-macos", b"\xcf\xfa\xed\xfe")


def _cross(folder: Path, tools: Path, target: str, magic: bytes) -> None:
    made = build(folder, "none")
    sources = [path for path in made.emitted if path.endswith(".c")]
    zig = [tools / "bin" / "python", "-m", "ziglang", "cc", "-target", target]
    run_checked([*zig, "-std=c99", "-O2", "-I.", *sources, "-o", "program.exe"], cwd=folder, timeout_s=600)
    assert (folder / "program.exe").read_bytes().startswith(magic)


CHECKS: tuple[Callable[[Path, Path], None], ...] = (
    rust,
    wasm,
    platformio,
    esp_idf,
    zephyr,
    cmsis_pack,
    windows,
    macos,
)


def main() -> None:
    tools, wanted, failed = Path(sys.argv[1]).resolve(), sys.argv[2:], 0
    assert DIGITS.is_file()
    for check in CHECKS:
        if wanted and check.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory() as place:
            try:
                check(Path(place) / "digits", tools)
                print(f"{check.__name__:<12} {check.__doc__}", flush=True)
            except (AssertionError, ToolError) as error:
                failed += 1
                print(f"{check.__name__:<12} FAILED: {re.sub(chr(10), ' ', str(error))[:2000]}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
