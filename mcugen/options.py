"""Options of a build: the fields of `Options`, from which the command line is generated."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypedDict

from mcugen.errors import UsageError

RUNTIMES = {"tflm": "TensorFlow Lite Micro", "litert": "LiteRT", "ort": "ONNX Runtime"}
REFERENCES = tuple(RUNTIMES)
BACKENDS = ("c", "opencl")
PRECISIONS = ("f16",)
DEVICE_BOARD = "opencl-generic"
LAYOUTS = ("nhwc", "nchw")
INPUT_MODES = ("whole", "rows", "frames", "samples")
SAMPLES = "samples"
"""The input mode that has options of its own."""
DEFAULT_EXPORTS = ("cmake",)
TFLM = "tflm"
"""The export for firmware written for TensorFlow Lite Micro. It has options of its own."""
GOALS = ("balanced", "speed", "ram", "flash")
_C_KEYWORDS_LIST = """
    auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof and and_eq asm bitand bitor bool catch class co_await co_return co_yield compl concept const_cast
    consteval constexpr constinit decltype delete dynamic_cast explicit export false friend main mutable namespace
    new noexcept not not_eq operator or or_eq private protected public reinterpret_cast requires static_assert
    static_cast template this thread_local throw true try typeid typename typeof typeof_unqual using virtual xor xor_eq
    abstract as async await become box crate dyn final fn gen impl in let loop macro match mod move mut override priv
    pub ref self super trait type unsafe unsized use where yield
"""
_C_KEYWORDS = frozenset(_C_KEYWORDS_LIST.split())
"""Keywords of C, C++ and Rust. Wrappers in these languages use the model's name."""
# Lower-case names X for which X, X_t or X.h collides with a C library, a target of CMake or a member of the C++ class.
_TAKEN_LIST = """
    main run_step null eof stdin stdout stderr linux unix i386 assert complex ctype errno fenv float inttypes iso646
    limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string
    tgmath threads time uchar wchar wctype size ssize rsize ptrdiff wint intptr uintptr intmax uintmax clock off loff
    div ldiv lldiv imaxdiv fpos mbstate va_list max_align sig_atomic wctrans char8 char16 char32 double nullptr pid uid
    gid mode dev ino nlink id key timer clockid suseconds useconds blksize blkcnt fsblkcnt fsfilcnt quad u_quad fsid
    daddr caddr socklen sigset stack cnd mtx thrd tss std all clean help install test c input load output push reset run
    put take lost alloca endian features ieeefp newlib picolibc strings syslimits
"""
_TAKEN = frozenset(_TAKEN_LIST.split())
_TAKEN_FORM = re.compile(
    r"(mg|mcugen|pthread)(_.*)?|u?_?int(_fast|_least)?\d+(_(max|min|c))?|(u?int(max|ptr)|size|ptrdiff|wchar|wint)_(max|min|c)"
)

_NO_NAMES = frozenset({"graph", "model", "model_data", "network", "saved_model"})
"""File stems, in lower case, that are too general to name a model."""
_NO_FOLDERS = frozenset({*_NO_NAMES, "build", "data", "dist", "export", "exported", "models", "out", "output", "tmp"})
"""Folder names, in lower case, that are too general to name a model."""

_NAME_HINT = (
    "use at most 40 letters, digits and underscores, beginning with a letter; "
    "reserved words of C, C++, Rust and CMake are refused"
)

MAX_PREFIX = 20
"""Longest model name, in characters, that keeps every external name within the 31 characters that C99 distinguishes.
The longest suffix is `_push_frame`, with 11.
"""

_DIGEST = 3
"""Hexadecimal digits of the hash that ends a shortened name."""

_REGION = re.compile(r"[a-z][a-z0-9_]{0,23}", re.ASCII)
_NOT_REGIONS = frozenset({"arena", "weights", "input", "output"})
"""Names that would clash with <NAME>_INPUT_SIZE and similar macros."""


def _option(default: Any, text: str, **extra: Any) -> Any:
    """A field of Options. extra: `group`: its heading in the help; `building`: only commands that write a build have
    it; `several_models`: a flag of commands that take several models, which become its value.
    """
    return field(default=default, metadata={"help": text, **extra})


@dataclass(frozen=True)
class Options:
    """Choices of one build; immutable, passed as an argument, never read from the environment."""

    board: str = _option(
        "host",
        "Board or bare core; `mcugen boards` lists them. `run` and `evaluate` build for this computer by default.",
        metavar="NAME",
        group="Target",
    )
    backend: str = _option(
        "",
        "c: everything is C. opencl: OpenCL kernels with a C program that runs them; `--board` names the device, by "
        "default opencl-generic.",
        choices=BACKENDS,
        group="Target",
        building=True,
    )
    precision: str = _option(
        "",
        "f16: an OpenCL device stores float tensors and weights as half and computes in float: half the memory, "
        "and results within 0.01 of the float model's. By default everything is float.",
        choices=PRECISIONS,
        group="Target",
        building=True,
    )
    features: str = _option(
        "", "Switch core features off (or on), e.g. `-dsp` or `-dsp,-fpu`.", metavar="LIST", group="Target"
    )
    name: str = _option(
        "", "Prefix of the C symbols and files; by default derived from the file name.", metavar="NAME", group="Model"
    )
    reference: str = _option(
        "",
        "Runtime whose results to reproduce: TensorFlow Lite Micro or LiteRT's reference kernels for .tflite, ONNX "
        "Runtime for .onnx. By default TensorFlow Lite Micro for .tflite.",
        choices=REFERENCES,
        group="Target",
    )
    input_shape: tuple[str, ...] = _option(
        (),
        "Shape of an input that the file leaves open, e.g. `image:1,3,96,96`; may be given several times. The "
        "name may be left out if there is only one input.",
        metavar="[NAME:]LIST",
        group="Model",
    )
    signature: str = _option(
        "", "Signature (network) of a .tflite file to build; by default the first.", metavar="NAME", group="Model"
    )
    input_layout: str = _option(
        "",
        "Layout of input images: nhwc (channels last) or nchw (channels first). By default the layout of the file.",
        choices=LAYOUTS,
        group="Model",
    )
    output_layout: str = _option(
        "", "Layout of output images. By default the layout of the file.", choices=LAYOUTS, group="Model"
    )
    chain: tuple[str, ...] = _option(
        (),
        "Build several models as one: the output of each is the input of the next. If a model gives one row and the "
        "next takes several, a state keeps the newest rows.",
        group="Model",
        several_models=True,
    )
    quantize: str = _option(
        "",
        "Samples with which to quantize a float MODEL first, as `mcugen quantize` does with its defaults.",
        metavar="SAMPLES",
        group="Model",
    )
    preprocess: str = _option(
        "",
        "Words that turn the data of a sensor into the network's input; they become operators in front of it. See "
        "docs/samples.md. `micro_speech` or `microwakeword`: a stream of samples; see docs/sensors.md.",
        metavar="WORDS",
        group="Model",
    )
    raw: str = _option(
        "",
        "What the sensor gives, with --preprocess: SHAPE[:TYPE[/N]][@RATE], such as 16000:s16@16000, 100x3:s16/8192@50 "
        "or 160x120x3:u8. /N: integers are divided by N. By default it follows from the words and the network.",
        metavar="DATA",
        group="Model",
    )
    decide: str = _option(
        "",
        "Words that turn the network's scores into decisions, such as mean=5,unknown=0.6. They become operators behind "
        "it. See docs/sensors.md.",
        metavar="WORDS",
        group="Model",
    )
    optimize: str = _option(
        "balanced",
        "balanced: fast, but uses RAM and flash only where they save enough time (docs/goals.md); speed: "
        "the fastest that fits; ram: the least RAM, layers run row by row; flash: the fewest bytes of constants and "
        "code.",
        choices=GOALS,
        group="Memory and speed",
    )
    input_mode: str = _option(
        "whole",
        "How the input arrives. whole: in memory; rows: pushed one by one, as from a camera; frames: pushed one by one "
        "into a window over time; samples: any number at a time, cut into windows.",
        choices=INPUT_MODES,
        group="Memory and speed",
    )
    hop: str = _option(
        "",
        "--input-mode samples: from the start of one window of samples to the start of the next, e.g. `160` or `10ms`.",
        metavar="SAMPLES",
        group="Memory and speed",
        mode=SAMPLES,
    )
    stride: str = _option(
        "",
        "--input-mode samples: windows from one run of the network to the next. By default 1 or, if the network keeps "
        "a state, as many as it takes.",
        metavar="WINDOWS",
        group="Memory and speed",
        mode=SAMPLES,
    )
    rate: str = _option(
        "",
        "--input-mode samples: samples per second, e.g. `8k`; by default 16,000.",
        metavar="FREQUENCY",
        group="Memory and speed",
        mode=SAMPLES,
    )
    queue: str = _option(
        "",
        "--input-mode samples: room for samples that an interrupt puts while a task computes, e.g. `20ms`; adds "
        "NAME_put and NAME_take.",
        metavar="SAMPLES",
        group="Memory and speed",
        mode=SAMPLES,
    )
    ram: str = _option(
        "",
        "RAM budget, e.g. `20K`, `64KiB` or `20000` (bytes; K is 1024); the fastest schedule that fits is chosen. By "
        "default the board's RAM.",
        metavar="SIZE",
        group="Memory and speed",
    )
    flash: str = _option(
        "",
        "Flash budget for constants, e.g. `200K`; the fastest kernels that fit are chosen. By default the board's "
        "flash, less an allowance for code.",
        metavar="SIZE",
        group="Memory and speed",
    )
    clock: str = _option(
        "",
        "Clock of the core in Hz, e.g. `168M`, for milliseconds; by default the board's. Bare cores have none.",
        metavar="FREQUENCY",
        group="Target",
    )
    require_accelerated: bool = _option(
        False,
        "Fail if a layer falls back to a portable kernel although the core has an accelerated one.",
        group="Memory and speed",
        building=True,
    )
    region: str = _option(
        "",
        "RAM regions to use, the fastest first, e.g. `dtcm=64K,sram=256K`; without a size, the whole region. "
        "A model that does not fit the first region is spread over all. By default the board's regions.",
        metavar="LIST",
        group="Memory and speed",
    )
    weights_in: str = _option(
        "",
        "Further memories for constants, e.g. `dtcm=16K,qspi`. RAM gets the constants read most often per byte, copied "
        "at start-up. A second flash gets the constants read least often if the first is full. `auto`: unused RAM. "
        "Default: none; auto with --optimize speed, if there is no RAM budget and the flash has wait states.",
        metavar="LIST",
        group="Memory and speed",
    )
    weights_blob: bool = _option(
        False,
        "Constants as one block, NAME.blob. The firmware passes its address; the C refuses a block that does not match "
        "the code. `mcugen pack` makes the block of a retrained model.",
        group="Memory and speed",
    )
    fetch_weights: bool = _option(
        False,
        "Copy the constants of each layer into RAM before it runs, for memory that pointers cannot address: PROGMEM of "
        "AVR, or a flash behind a serial bus.",
        group="Memory and speed",
    )
    threads: str = _option(
        "", "Compute large layers in bands for N threads: see docs/run.md.", metavar="N", group="Memory and speed"
    )
    no_rows: bool = _option(False, "Run every layer whole, never row by row.", group="Memory and speed")
    no_simplify: bool = _option(
        False, "Compute every node, even nodes that cannot change the outputs.", group="Memory and speed"
    )
    keep_input: bool = _option(False, "Keep the input unchanged during a run (costs RAM).", group="Memory and speed")
    selftest: bool = _option(
        False, "Add <name>_selftest() with a recorded input and output.", group="Files", building=True
    )
    export: tuple[str, ...] = _option(
        DEFAULT_EXPORTS,
        "Build files to write with the C, e.g. `cmake`, or `none`; may be given several times.",
        metavar="NAME",
        group="Files",
        building=True,
    )
    symbol: tuple[str, ...] = _option(
        (),
        "--export tflm: the variable that held the flatbuffer in the firmware, e.g. `g_model` or `ns::g_model`. It now "
        "stands for the compiled model. May be given several times; with --share-arena as MODEL=NAME. By default the "
        "flatbuffer stays in the firmware and is recognized by its content.",
        metavar="NAME",
        group="Files",
        building=True,
        export=TFLM,
    )
    length_symbol: tuple[str, ...] = _option(
        (),
        "--export tflm: the variable with the flatbuffer's length, e.g. `g_model_len`. May be given several times.",
        metavar="NAME",
        group="Files",
        building=True,
        export=TFLM,
    )
    find: bool = _option(
        False,
        "--export tflm: also recognize the flatbuffer by its content, for firmware that still links it.",
        group="Files",
        building=True,
        export=TFLM,
    )
    header_prefix: str = _option(
        "",
        "--export tflm: a folder before the paths of TensorFlow Lite Micro's headers, e.g. `edge-impulse-sdk`.",
        metavar="FOLDER",
        group="Files",
        building=True,
        export=TFLM,
    )
    kernels_dir: str = _option(
        "",
        "Folder for kernels and their headers, relative to the output folder, e.g. `../kernels`; models of one "
        "project can share it. By default the output folder.",
        metavar="FOLDER",
        group="Files",
        building=True,
    )
    no_report: bool = _option(
        False, "Write no report.html and no badge.svg, only report.json.", group="Files", building=True
    )
    amalgamate: bool = _option(
        False, "Emit one .c and one .h instead of separate kernels.", group="Files", building=True
    )

    @property
    def board_name(self) -> str:
        """The name of the board to build for. The OpenCL backend replaces the default `host` by a generic device."""
        return DEVICE_BOARD if self.backend == "opencl" and self.board == "host" else self.board

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes given for inputs, by name. Raises UsageError for a text that is not a shape."""
        return dict(_shape_of(text) for text in self.input_shape)

    @property
    def ram_bytes(self) -> int | None:
        """The RAM budget in bytes, or None."""
        return bytes_of(self.ram) if self.ram else None

    @property
    def flash_bytes(self) -> int | None:
        """The flash budget in bytes, or None."""
        return bytes_of(self.flash, "--flash") if self.flash else None

    @property
    def clock_hz(self) -> int | None:
        """The clock given, in Hz, or None."""
        return hertz_of(self.clock) if self.clock else None

    @property
    def rate_hz(self) -> int:
        """Samples per second."""
        return hertz_of(self.rate or "16k", "--rate")

    @property
    def hop_samples(self) -> int | None:
        """The hop given, in samples, or None."""
        return samples_of(self.hop, self.rate_hz) if self.hop else None

    @property
    def queue_samples(self) -> int:
        """Samples that fit the queue between an interrupt and the task; 0 without one."""
        return samples_of(self.queue, self.rate_hz, "--queue") if self.queue else 0

    @property
    def stride_windows(self) -> int | None:
        """The stride given, in windows, or None."""
        return int(self.stride) if self.stride else None

    @property
    def regions(self) -> tuple[tuple[str, int | None], ...]:
        """The RAM regions to use, each with the bytes allowed in it; None means the whole region."""
        return region_list(self.region, "--region")

    @property
    def weight_regions(self) -> tuple[tuple[str, int | None], ...]:
        """The memories given for constants, each with the bytes allowed in it. Empty for `auto` and `none`."""
        return region_list("" if self.weights_in in ("auto", "none") else self.weights_in, "--weights-in")

    def __post_init__(self) -> None:
        _ = self.weight_regions, self.shapes, self.clock_hz
        for name in ("ram", "flash"):
            if getattr(self, name):
                bytes_of(getattr(self, name), f"--{name}")
        if self.regions and self.ram:
            hint = "leave --ram out, and give each region its size in --region"
            raise UsageError(f"--ram {self.ram} contradicts --region {self.region}", hint=hint)
        _check_samples(self)
        for item in fields(self):
            choices = item.metadata.get("choices")
            value = getattr(self, item.name)
            if choices and value not in (*choices, item.default):
                flag = item.name.replace("_", "-")
                raise UsageError(f"--{flag} cannot be {value!r}", hint=f"choose one of {', '.join(choices)}")
        if self.no_rows and (self.input_mode in ("rows", "frames") or self.optimize == "ram"):
            asked = "--optimize ram" if self.optimize == "ram" else f"--input-mode {self.input_mode}"
            raise UsageError(f"--no-rows contradicts {asked}", hint="leave one of them out")
        if self.weights_blob + self.fetch_weights + self.amalgamate > 1:
            raise UsageError(
                "--weights-blob, --fetch-weights and --amalgamate exclude each other", hint="choose one of them"
            )
        for item in fields(self):
            owner, value = item.metadata.get("export"), getattr(self, item.name)
            if owner and value != item.default and owner not in self.export:
                flag = item.name.replace("_", "-")
                raise UsageError(f"--{flag} is for --export {owner}", hint=f"add --export {owner}, or leave it out")
        if self.raw and not self.preprocess:
            raise UsageError("--raw is for --preprocess", hint="add --preprocess, or leave --raw out")
        if self.preprocess and self.input_layout:
            hint = "leave --input-layout out, and add nchw or nhwc to --preprocess"
            raise UsageError("--input-layout contradicts --preprocess", hint=hint)
        if self.chain:
            _check_chain(self)
        if TFLM in self.export:
            _check_tflm(self)
        if self.kernels_dir:
            _check_kernels_dir(self.kernels_dir, amalgamate=self.amalgamate)
        if self.name and not is_c_name(self.name):
            raise UsageError(
                f"--name {self.name!r} cannot prefix C symbols",
                hint=_NAME_HINT,
            )


_VARIABLE = re.compile(r"(?:[A-Za-z]\w{0,39}=)?[A-Za-z_]\w{0,99}(?:::[A-Za-z_]\w{0,99})*", re.ASCII)


def _check_tflm(options: Options) -> None:
    """Raise UsageError for options that contradict --export tflm.

    Firmware of TensorFlow Lite Micro must see the model of its flatbuffer, with the same inputs and outputs. Symbols
    must be names of C++ variables.
    """
    inputs = {
        f"--input-mode {options.input_mode}": options.input_mode != "whole",
        f"--input-layout {options.input_layout}": options.input_layout not in ("", "nhwc"),
        f"--output-layout {options.output_layout}": options.output_layout not in ("", "nhwc"),
        "--quantize": bool(options.quantize),
        "--weights-blob": options.weights_blob,
        "--backend opencl": options.backend == "opencl",
    }
    for flag in (flag for flag, given in inputs.items() if given):
        raise UsageError(
            f"{flag} contradicts --export {TFLM}: the model would differ from the firmware's flatbuffer",
            hint="leave one of them out",
        )
    for flag, names in (("--symbol", options.symbol), ("--length-symbol", options.length_symbol)):
        for name in names:
            if not _VARIABLE.fullmatch(name) or _C_KEYWORDS & set(re.split("::|=", name)):
                raise UsageError(
                    f"{name!r} is not the name of a C++ variable",
                    where=flag,
                    hint="write it like g_model or ns::g_model",
                )
            variable = name.rpartition("=")[2]
            if any(map(_is_taken, (variable, variable.removesuffix("_t")))) or variable in ("tflite", "DebugLog"):
                raise UsageError(
                    f"{variable!r} is a name that C or the generated files use", where=flag, hint="rename the variable"
                )
    twice = [name for name in options.symbol if (options.symbol + options.length_symbol).count(name) > 1]
    if twice:
        raise UsageError(f"{twice[0]!r} is given twice", where="--symbol", hint="name each variable once")
    if options.header_prefix and not re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)*/?", options.header_prefix, re.ASCII):
        raise UsageError(
            f"{options.header_prefix!r} is not a relative path without `..`",
            where="--header-prefix",
            hint="write it like edge-impulse-sdk, with letters, digits, `.`, `_` and `-`",
        )


def _check_samples(options: Options) -> None:
    """Raise UsageError for options of samples in another input mode, and for numbers that they cannot have."""
    for item in fields(options):
        if item.metadata.get("mode") == SAMPLES and getattr(options, item.name) and options.input_mode != SAMPLES:
            hint = f"add --input-mode {SAMPLES}, or leave it out"
            raise UsageError(f"--{item.name} is for --input-mode {SAMPLES}", hint=hint)
    _ = options.hop_samples, options.queue_samples, options.rate_hz
    if options.stride and not re.fullmatch(r"[1-9]\d{0,5}", options.stride, re.ASCII):
        raise UsageError(f"--stride {options.stride!r} is not a number of windows", hint="give 1 or more, e.g. 3")


def samples_of(text: str, rate: int, flag: str = "--hop") -> int:
    """A number of samples from texts like `160`, `10ms`, `0.5s`. rate: samples per second. Raises UsageError."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*(ms|s|)", text.strip(), re.ASCII)
    each = {"": Fraction(1), "ms": Fraction(rate, 1000), "s": Fraction(rate)}
    count = Fraction(found[1]) * each[found[2]] if found else Fraction(0)
    if not 1 <= count < 2**24 or count.denominator != 1:
        hint = f"give whole samples, e.g. 160, or a time of whole samples at {rate:,} a second, e.g. 10ms"
        raise UsageError(f"{flag} {text!r} is not a number of samples", hint=hint)
    return int(count)


def _check_chain(options: Options) -> None:
    """Raise UsageError for options that say something about the file of a single model."""
    names = ("quantize", "signature", "input_shape")
    given = [name.replace("_", "-") for name in names if getattr(options, name)]
    for flag in (*given, *([f"export {TFLM}"] if TFLM in options.export else [])):
        raise UsageError(f"--{flag} contradicts --chain: it is for the file of one model", hint="leave one of them out")


def _check_kernels_dir(folder: str, *, amalgamate: bool) -> None:
    """Raise UsageError for a folder that build files cannot name, or if --amalgamate would leave the folder empty."""
    if amalgamate:
        raise UsageError("--amalgamate contradicts --kernels-dir", hint="leave one of them out")
    if not re.fullmatch(r"(\.\./)*[\w.-]+(/[\w-][\w.-]*)*/?", folder, re.ASCII) or folder.strip("/.") == "":
        raise UsageError(
            f"{folder!r} is not a relative path from the output folder",
            where="--kernels-dir",
            hint="write it like ../kernels, with letters, digits, `.`, `_` and `-`",
        )


def region_list(text: str, option: str) -> tuple[tuple[str, int | None], ...]:
    """`a=64K,b` as (("a", 65536), ("b", None)). Raises UsageError for a bad or repeated name."""
    found: list[tuple[str, int | None]] = []
    for item in (part.strip() for part in text.split(",") if part.strip()):
        name, equals, size = item.partition("=")
        if not _REGION.fullmatch(name) or name in _NOT_REGIONS or name in dict(found):
            raise UsageError(
                f"{option} {text!r}: {name!r} cannot name a region here",
                hint="give each region once, as NAME=SIZE; a name has lower-case letters, digits and underscores",
            )
        found.append((name, bytes_of(size, option) if equals else None))
    return tuple(found)


def shape_texts(given: str | Sequence[Any] | Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """Shapes of inputs in the syntax of the option, from the forms that Python callers give: texts, a dict by name, or
    one shape.
    """
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Mapping):
        return tuple(f"{name}:{_dims(shape)}" for name, shape in given.items())
    if not isinstance(given, Iterable):
        return (str(given) + ",",)
    items = tuple(given)
    return items if all(isinstance(item, str) for item in items) else (_dims(items),)


def _dims(shape: Any) -> str:
    return ",".join(map(str, shape)) if isinstance(shape, Iterable) else str(shape)


def _shape_of(text: str) -> tuple[str, tuple[int, ...]]:
    """An input's name and shape from NAME:1,3,96,96. Without NAME the name is "", the only input. Raises UsageError."""
    name, _, dims = text.rpartition(":")
    sizes = dims.split(",")
    if not all(size.isdecimal() and 0 < int(size) < 2**31 for size in sizes):
        raise UsageError(f"{text!r} is not the shape of an input", where="--input-shape", hint="write NAME:1,3,96,96")
    return name, tuple(int(size) for size in sizes)


def bytes_of(text: str, option: str = "--ram") -> int:
    """A size in bytes. `20K`, `20KB` and `20KiB` are 20 * 1024; M is 1024 * 1024. Raises UsageError."""
    found = re.fullmatch(r"(\d{1,12})\s*([KkMm]?)(?:i?[Bb])?", text.strip(), re.ASCII)
    if found is None or int(found[1]) == 0:
        raise UsageError(
            f"{option} {text!r} is not a size", hint="give bytes, e.g. 20000, or use a unit, e.g. 20K or 20KiB"
        )
    return int(found[1]) * {"": 1, "K": 1024, "M": 1024**2}[found[2].upper()]


def hertz_of(text: str, option: str = "--clock") -> int:
    """A frequency in Hz from texts like `16000000`, `16M`, `16MHz`, `1.2G`, `32.768k`. Raises UsageError."""
    found = re.fullmatch(r"(\d{1,10}(?:\.\d{1,9})?)\s*([KkMG]?)(?:Hz)?", text.strip(), re.ASCII)
    hertz = 0.0 if found is None else float(found[1]) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[found[2].upper()]
    if not 1 <= hertz <= 10**11:
        raise UsageError(
            f"{option} {text!r} is not a frequency", hint="give Hz, e.g. 16000, or use a unit, e.g. 16k or 168M"
        )
    return round(hertz)


def is_c_name(text: str) -> bool:
    """Whether `text` can prefix C symbols and name files: no keyword, and no name of C's types, macros or headers."""
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", text) is not None and not _is_taken(text)


def _is_taken(text: str) -> bool:
    lower = text.lower()
    return text in _C_KEYWORDS or lower in _TAKEN or _TAKEN_FORM.fullmatch(lower) is not None


def named(path: Path) -> tuple[str, Path]:
    """Splits NAME=path into the name, "" if there is none, and the path.

    If a file exists whose name is the whole text, the text is a path without a name. Raises UsageError for a name that
    cannot prefix C symbols.
    """
    name, equals, rest = str(path).partition("=")
    if not equals or path.exists() or not Path(rest).exists():
        return "", path
    if not is_c_name(name):
        raise UsageError(f"{name!r} cannot prefix C symbols", where=str(path), hint=_NAME_HINT)
    return name, Path(rest)


def stem_of(path: Path) -> str:
    """The stem that names a model: the file's stem. The folder's name replaces a stem that is too general, as in
    `kws/model.tflite`.
    """
    folder = path.parent.name
    says_something = folder and not folder.startswith(".") and folder.lower() not in _NO_FOLDERS
    return folder if path.stem.lower() in _NO_NAMES and says_something else path.stem


def c_name_from(stem: str) -> str:
    """A C name made from a file's stem: `kws-int8.v2` becomes `kws_int8_v2`.

    A name of more than MAX_PREFIX characters is shortened to the first words that fit, followed by a hash of the stem,
    so that stems that begin alike get different names.
    """
    plain = _plain(stem)
    if len(plain) <= MAX_PREFIX:
        return plain
    digest = hashlib.sha256(stem.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    end = MAX_PREFIX - _DIGEST - 1
    words = plain[: end + 1].rpartition("_")[0] or plain[:end]
    return f"{words}_{digest}"


def name_of(path: Path) -> str:
    """The C name of the model in a file. `path` is the file, or NAME=path."""
    given, file = named(path)
    return given or c_name_from(stem_of(file))


def is_shortened(stem: str) -> bool:
    """Whether the C name made from a file's stem is shortened."""
    return len(_plain(stem)) > MAX_PREFIX


def _plain(stem: str) -> str:
    """The letters and digits of a stem, separated by underscores: a C name of any length."""
    cleaned = re.sub(r"[^A-Za-z0-9]+", "_", stem.encode("ascii", "ignore").decode()).strip("_")
    return cleaned if cleaned[:1].isalpha() and not _is_taken(cleaned) else f"model_{cleaned}".rstrip("_")


class Choices(TypedDict, total=False):
    """Keyword arguments of `mcugen.compile` and `mcugen.load`. See the fields of `Options`."""

    board: str
    backend: Literal["", "c", "opencl"]
    precision: Literal["", "f16"]
    features: str
    name: str
    reference: Literal["", "tflm", "litert", "ort"]
    input_shape: str | Sequence[str] | Sequence[int] | Mapping[str, Sequence[int]]
    signature: str
    input_layout: Literal["", "nhwc", "nchw"]
    output_layout: Literal["", "nhwc", "nchw"]
    chain: tuple[str, ...]
    quantize: str
    preprocess: str
    raw: str
    decide: str
    optimize: Literal["balanced", "speed", "ram", "flash"]
    input_mode: Literal["whole", "rows", "frames", "samples"]
    hop: str
    stride: str
    rate: str
    queue: str
    ram: str
    flash: str
    clock: str
    require_accelerated: bool
    region: str
    weights_in: str
    weights_blob: bool
    fetch_weights: bool
    threads: str
    no_rows: bool
    no_simplify: bool
    keep_input: bool
    selftest: bool
    export: tuple[str, ...]
    symbol: tuple[str, ...]
    length_symbol: tuple[str, ...]
    find: bool
    header_prefix: str
    kernels_dir: str
    no_report: bool
    amalgamate: bool
