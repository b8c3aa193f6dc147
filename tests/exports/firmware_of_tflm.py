# SPDX-License-Identifier: Apache-2.0
"""Written applications of TensorFlow Lite Micro on three compiled models, for this machine and for emulated cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mcugen
from mcugen.emit import selftest
from mcugen.formats import write
from mcugen.machines.toolchain.process import Completed, run, run_checked
from mcugen.pipeline import Artifact
from tests.exports.recorded import DIGITS, MODELS
from tests.states import graphs

APPLICATIONS = Path(__file__).parent / "tflm"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-DMCUGEN_TFLM_WARNINGS")
SEMIHOSTING = ("-semihosting-config", "enable=on,target=native", "-nographic", "-monitor", "none", "-serial", "none")
VECTORS = """
extern void _start(void);
__attribute__((section(".vectors"), used)) const void *const vectors[] = { (void *)0x400000, (void *)_start };
"""
LEAN = ("-DMCUGEN_TFLM_LEAN",)
"""No headers of the C++ library, for all applications but those that use it: it takes most of their compilation."""
DIGITS_NAMES = ("g_digits_data", "networks::digits_tflite"), ("g_digits_data_len", "g_digits_data_size")


@dataclass(frozen=True)
class Machine:
    """A compiler for firmware in C and C++, and what runs its programs. link: further flags of the linker."""

    name: str
    cc: str
    cxx: str
    flags: tuple[str, ...]
    cpp_flags: tuple[str, ...]
    link: tuple[str, ...] = ()
    emulator: tuple[str, ...] = ()

    def compiled(self, sources: Sequence[Path], include: Sequence[Path], out: Path, *more: str) -> list[Path]:
        """Objects of C and C++ sources, which may have equal names in different folders."""
        out.mkdir(parents=True, exist_ok=True)
        objects = []
        for k, source in enumerate(sources):
            is_c, lean = source.suffix == ".c", source.name != "newer.cc"
            flags = ("-std=c99", "-ffp-contract=off") if is_c else (*self.cpp_flags, *WARNINGS, *LEAN * lean)
            objects.append(out / f"{k}_{source.stem}.o")
            folders = [f"-I{folder}" for folder in include]
            compiler = self.cc if is_c else self.cxx
            run_checked([compiler, *self.flags, *flags, *more, *folders, "-c", source, "-o", objects[-1]])
        return objects

    def linked(self, objects: Sequence[Path], out: Path) -> Path:
        if "_start" in " ".join(self.link):
            (out / "vectors.c").write_text(VECTORS)
            objects = [*objects, *self.compiled([out / "vectors.c"], [], out / "vectors")]
        image = out / "firmware"
        compiler = self.cc if self.emulator else self.cxx  # the C compiler links no C++ library
        run_checked([compiler, *self.flags, *objects, *self.link, "-lm", "-o", image])
        return image

    def ran(self, image: Path) -> Completed:
        return run([*self.emulator, image], timeout_s=60.0)


def _arm(name: str, machine: str) -> Machine:
    return Machine(
        name,
        "arm-none-eabi-gcc",
        "arm-none-eabi-g++",
        (f"-mcpu={name}", "-mthumb", "-Os", "-ffunction-sections", "-fdata-sections"),
        ("-std=c++11", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"),
        (
            "--specs=rdimon.specs",
            "-Wl,--section-start=.vectors=0",
            "-Wl,--gc-sections",
            "-Wl,-u,vectors",
            "-Wl,--entry=_start",
        ),
        ("qemu-system-arm", "-M", machine, *SEMIHOSTING, "-kernel"),
    )


def _host(name: str, cxx: str, *cpp_flags: str, flags: tuple[str, ...] = ()) -> Machine:
    return Machine(name, "gcc", cxx, flags, cpp_flags, flags)


SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
HOST = _host("c++11 with sanitizers", "g++", "-std=c++11", "-O0", flags=SANITIZERS)
RV32 = Machine(
    "rv32imc",
    "riscv64-unknown-elf-gcc",
    "riscv64-unknown-elf-g++",
    ("-march=rv32imc", "-mabi=ilp32", "-mcmodel=medany", "--specs=picolibc.specs", "-Os", "-ffunction-sections"),
    ("-std=c++11", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"),
    (
        *("--oslib=semihost", "--crt0=hosted", "-Wl,--defsym=__flash=0x80000000", "-Wl,--defsym=__flash_size=0x400000"),
        *("-Wl,--defsym=__ram=0x80400000", "-Wl,--defsym=__ram_size=0x200000"),
    ),
    ("qemu-system-riscv32", "-M", "virt", "-bios", "none", *SEMIHOSTING, "-kernel"),
)
M4, M0PLUS = _arm("cortex-m4", "mps2-an386"), _arm("cortex-m0plus", "mps2-an385")
FURTHER = (
    _host("c++17", "g++", "-std=c++17", "-O2", flags=SANITIZERS),
    _host("clang, c++14", "clang++", "-std=c++14", "-O1"),
    _host("c++20 without aliases", "g++", "-std=c++20", "-O1", "-DMCUGEN_TFLM_NO_ALIASES"),
    M0PLUS,
)


@dataclass(frozen=True)
class Firmware:
    """Three models behind the interface, and the folder of generated headers."""

    folder: Path
    models: tuple[Artifact, ...]

    @property
    def include(self) -> list[Path]:
        return [APPLICATIONS, self.folder, *(self.folder / made.name for made in self.models)]

    @property
    def behind(self) -> list[Path]:
        """The C++ of the build."""
        return [self.folder / made.name / f"{made.name}_tflm.cc" for made in self.models]

    @property
    def sources(self) -> list[Path]:
        """The C of the models, each function once."""
        paths = {path: made for made in self.models for path in made.emitted if path.endswith(".c")}
        return [self.folder / made.name / path for path, made in paths.items() if path != "examples/main.c"]

    @property
    def applications(self) -> list[Path]:
        return sorted(APPLICATIONS.glob("*.cc"))


def built(folder: Path) -> Firmware:
    """Digits by names, a model with a state by a name, and a float model by the content of its flatbuffer."""
    states, floats = folder / "states.tflite", MODELS / "f32_softmax.tflite"
    states.write_bytes(write.write(graphs.accumulator("s8"), "tflite"))
    common = {"export": ("tflm",), "no_report": True}
    symbols, lengths = DIGITS_NAMES
    models = (
        mcugen.compile(DIGITS, name="digits", symbol=symbols, length_symbol=lengths, **common),
        mcugen.compile(states, name="states", symbol=("networks::g_states",), **common),
        mcugen.compile(floats, name="softmax", find=True, **common),
    )
    for made in models:
        made.write(folder / made.name)
    (folder / "softmax_data.h").write_text(_array("static const unsigned char", "softmax_data", floats.read_bytes()))
    (folder / "expected.h").write_text(_expected(models))
    return Firmware(folder, models)


def _array(c_type: str, name: str, data: bytes) -> str:
    return f"{c_type} {name}[] = {{ {', '.join(map(str, data))} }};\n"


def _expected(models: Sequence[Artifact]) -> str:
    """Recorded inputs, and what the reference computes of them."""
    text = [f"#include <stdint.h>\nenum {{ digits_bytes = {DIGITS.stat().st_size}, states_steps = 3 }};"]
    for made in models:
        for array in selftest.arrays(made.imported, made.view)[0]:
            name = array.symbol.replace("selftest", made.name)
            c_type = array.c_type.replace("mg_f32", "float")
            text.append(f"__attribute__((unused)) static const {c_type} {name}[] = {{ {''.join(array.text)} }};")
    return "\n".join(text) + "\n"
