"""Tables of supported boards, operators, kernels and rules, from the data that drives builds."""

from __future__ import annotations

import dataclasses
from typing import Any

from mcugen import kernels
from mcugen.boards import target
from mcugen.formats import registry
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Op
from mcugen.ir.types import NUMPY_DTYPES
from mcugen.options import RUNTIMES
from mcugen.system import tabular


def boards(text: str = "") -> list[dict[str, Any]]:
    """Boards and cores whose name, core or title contains the text, in upper or lower case. Cores come first."""
    loaded = [target.load(name) for name in target.names()]
    named = [t for t in loaded if any(text.lower() in part.lower() for part in (t.name, t.core, t.title))]
    return [
        {
            "name": t.name,
            "title": t.title,
            "core": t.core,
            "features": sorted(t.features),
            "clock_hz": t.clock_hz,
            "ram_bytes": t.ram_bytes,
            "total_ram_bytes": t.total_ram_bytes,
            "flash_bytes": t.flash_bytes,
            "regions": [dataclasses.asdict(r) | {"holds": sorted(r.holds)} for r in t.regions],
            "emulated": [e.machine for e in t.emulators],
        }
        for t in sorted(named, key=lambda t: (not t.is_core, t.name))
    ]


def boards_parts(rows: list[dict[str, Any]]) -> tabular.Parts:
    """The boards as a table. RAM is the sum of all regions of the chip, which one model may use."""
    columns = (
        tabular.TableColumn("name"),
        tabular.TableColumn("core"),
        tabular.TableColumn("MHz", right=True),
        tabular.TableColumn("RAM", right=True),
        tabular.TableColumn("flash", right=True),
        tabular.TableColumn("emulated on", optional=True),
        tabular.TableColumn("description", shrinks=True, optional=True),
    )
    return [tabular.TextTable(columns, tuple(_board_row(row) for row in rows))]


def _board_row(row: dict[str, Any]) -> tuple[str, ...]:
    clock = f"{row['clock_hz'] // 1_000_000}" if row["clock_hz"] else "-"
    ram, flash = (f"{row[key]:,}" if row[key] else "-" for key in ("total_ram_bytes", "flash_bytes"))
    machine = row["emulated"][0] if row["emulated"] else "-"
    return (row["name"], row["core"], clock, ram, flash, machine, row["title"])


def operators(name: str = "") -> list[dict[str, Any]]:
    """Operators with their imports, kernels and each kernel's rules: all, or those with a name, in upper or lower case.

    The name is the operator's own or a format's. If none equals it, operators whose names contain it are listed.
    """
    known = sorted(registry.load().ops, key=lambda op: op.__name__)
    names = {op: [op.__name__.lower(), *(entry.name.lower() for entry in op.imports)] for op in known}
    exact = [op for op in known if name.lower() in names[op]]
    return [_operator(op) for op in exact or known if exact or any(name.lower() in each for each in names[op])]


def _operator(op: type[Op]) -> dict[str, Any]:
    summary, *rest = (op.__doc__ or "").strip().split("\n")
    return {
        "op": op.__name__,
        "summary": summary,
        "details": [line.strip() for line in rest if line.strip()],
        "imports": [f"{entry.format} {entry.name}" for entry in op.imports],
        "types": _types(op),
        "runtimes": _runtimes(op),
        "kernels": [_kernel(kernel) for kernel in kernels.of(op)],
    }


def _types(op: type[Op]) -> list[str]:
    """Element types of operand 0 that have kernels, taken from the examples with which kernels are tested."""
    drawn = {e.inputs[0].dtype for e in op.examples() if e.inputs and e.inputs[0] is not None}
    return [dtype for dtype in NUMPY_DTYPES if dtype in drawn]


def _runtimes(op: type[Op]) -> dict[str, list[str]]:
    """Runtime -> element types of operand 0 that it computes. {} for operators that no .tflite file has."""
    if not any(entry.format == "tflite" for entry in op.imports):
        return {}
    found = {"tflm": op.tflm_types, "litert": op.litert_types}
    return {name: [dtype for dtype in NUMPY_DTYPES if dtype in types] for name, types in found.items()}


def _kernel(kernel: Kernel) -> dict[str, Any]:
    rules = [(rule.__doc__ or rule.__name__).strip() for rule in kernel.accepts]
    return {
        "symbol": kernel.symbol,
        "form": kernel.form.name,
        "needs": sorted(kernel.needs),
        "accepts": rules,
    }


def operators_parts(rows: list[dict[str, Any]]) -> tabular.Parts:
    """Each operator with its formula, the runtimes that it reproduces exactly, and its kernels with their rules."""
    lines = []
    for row in rows:
        lines += [f"{row['op']}  ({', '.join(row['imports'])})"]
        lines += [f"    {line}" for line in (row["summary"], *row["details"], *_bits(row["runtimes"]))]
        for kernel in row["kernels"]:
            needs = f" [{', '.join(kernel['needs'])}]" if kernel["needs"] else ""
            lines.append(f"    {kernel['symbol']}{needs}: {'; '.join(kernel['accepts']) or 'any types'}")
    return lines


def _bits(runtimes: dict[str, list[str]]) -> list[str]:
    """The runtimes that an operator reproduces exactly, with the element types of its first operand."""
    said = [f"{RUNTIMES[name]}: {', '.join(types)}" for name, types in runtimes.items() if types]
    return [f"Bits of {'; '.join(said)}."] if said else []


PAGE = """# Operators

Generated by `mcugen ops --markdown` from the operators themselves; do not edit.

A row is an operator of mcugen, with the names that files have for it. Many more names are read: they stand below the
table, ONNX's Add and Conv among them. **C for** lists the element types of its first operand that have kernels; other
types of a file become one of these first, such as uint8 int8. **TFLM** and **LiteRT** list the types for which the C
has that runtime's bits: the runtimes were asked for each type (`tests/vectors`). Float results lie within 1e-5;
[formats.md](formats.md) says what those of quantized ONNX keep.

`mcugen ops NAME` prints one operator in detail, by any of its names: operands, source, and what each kernel accepts. Of
the kernels whose conditions all hold, a build takes those that together cost least within its budgets.
"""
FURTHER = (
    "Further names in files. Each becomes operators of the table, is computed at build time, or is refused with "
    "what to do:"
)
FORMATS = {"tflite": ".tflite", "onnx": ".onnx", "nnef": "NNEF"}
"""Format -> its name in docs/operators.md."""


def operators_markdown(rows: list[dict[str, Any]]) -> str:
    """docs/operators.md: a table of the operators, and the names in files that become several operators."""
    columns = ("operator", "what it computes", ".tflite", ".onnx", "C for", "TFLM", "LiteRT")
    lines = [PAGE, f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    lines += ["", FURTHER, ""]
    for name, title in FORMATS.items():
        further = sorted({f"`{f.entry.name}`" for f in registry.load().all_of(name) if f.op is None})
        lines.append(f"- {title}: {', '.join(further)}")
    return "\n".join(lines) + "\n"


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    """The table cells of an operator. Asterisks and bars in formulas are escaped."""
    named = [entry.split(" ", 1) for entry in row["imports"]]
    formula = row["summary"].replace("*", r"\*").replace("|", r"\|")
    files = (", ".join(f"`{name}`" for of, name in named if of == wanted) for wanted in ("tflite", "onnx"))
    types = (row["types"], *(row["runtimes"].get(name, []) for name in ("tflm", "litert")))
    return (row["op"], formula, *files, *(" ".join(each) for each in types))
