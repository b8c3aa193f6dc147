"""What an instruction asks of a core, from objdump's text: its kind, the registers it reads and writes, how many moved.

Kinds are what the cores' tables of cycles are written in. An instruction that no pattern names is "alu".
Source: Armv8-M Architecture Reference Manual (DDI0553), C2.4; The RISC-V Instruction Set Manual, volume I.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_CONDITION = "(eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?"


def _patterns(*rows: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(f"({pattern}){_CONDITION}"), kind) for pattern, kind in rows)


_ARM = _patterns(
    ("nop|it[te]*", "nop"),
    ("cbn?z|b(?:eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)", "branch"),
    ("bl|blx", "call"),
    ("bx|b|tbb|tbh", "jump"),
    ("le(tp)?", "loop_end"),
    (r"[dw]ls(tp\..*)?", "loop_start"),
    ("pop|ldm(ia|db)?", "load_list"),
    ("push|stm(ia|db)?", "store_list"),
    ("ldrd", "load_pair"),
    ("strd", "store_pair"),
    ("ldrs?[bh]", "load_narrow"),
    ("ldr", "load"),
    ("str[bh]?", "store"),
    ("muls?", "mul"),
    ("ml[as]", "mla"),
    ("[us]ml?al|[us]mull|umaal", "mull"),
    ("[us]div", "div"),
    (r"sm(la|ls|ua|us)dx?|sm(la|ul|lal)[bt][bt]|sm(la|ul)w[bt]|smm(la|ls|ul)r?|sml[as]ldx?", "mac"),
    ("[us]xta?b16|pkh(bt|tb)|[us]sat16|q(d?add|d?sub)|(s|u|q|uq|sh|uh)(add|sub|asx|sax)(8|16)?x?|sel|usada?8", "simd"),
    ("[us]xta?[bh]|[us]sat", "extend"),
    ("bfi|bfc|[us]bfx|lsls?|lsrs?|asrs?|rors?", "shift"),
)
_FLOAT = _patterns(
    (r"vldr(\.\d+)?", "float_load"),
    (r"vstr(\.\d+)?", "float_store"),
    (r"vpop|vldm(ia|db)?", "float_load_list"),
    (r"vpush|vstm(ia|db)?", "float_store_list"),
    (r"vfn?m[as]\..*|vn?ml[as]\..*", "float_mac"),
    (r"vn?mul\..*", "float_mul"),
    (r"vdiv\..*", "float_div"),
    (r"vsqrt\..*", "float_sqrt"),
    (r"vmov(\..*)?|vmrs|vmsr", "float_move"),
    (r"v.*", "float_alu"),
)
_HELIUM = _patterns(
    (r"vld(r[bhwd]|[24]\d)[te]?(\..*)?", "vector_load"),
    (r"vst(r[bhwd]|[24]\d)[te]?(\..*)?", "vector_store"),
    (r"vr?m(la|ls)l?d?a?v.*|vmla.*|vr?mul.*|vqr?dm.*|vaddl?va?[te]?\..*|vabav.*|v(min|max)(nm)?a?v.*", "vector_mul"),
    (r"v(fma|fms|cmul|cmla|cvt|rint).*|v.*\.f(16|32)", "vector_mul"),
    (r"vq?r?shru?n[bt].*|vqmovu?n[bt].*|vmovn[bt].*", "vector_narrow"),
    (r"vmov(\.[su]?\d+)?", "vector_move"),
    (r"v.*", "vector_int"),
)
_PREDICATE = re.compile(r"vp(st|t|not|sel)[te]*(\..*)?|vctp\..*")
_RISCV = _patterns(
    ("nop", "nop"),
    ("jalr?|call", "call"),
    ("j|jr|ret", "jump"),
    ("(beq|bne|blt|bge|bltu|bgeu|ble|bgt|bleu|bgtu)z?", "branch"),
    ("l[bh]u?", "load_narrow"),
    ("lw", "load"),
    ("s[bhw]", "store"),
    ("mul|mulhs?u?|mulhsu", "mul"),
    ("(div|rem)u?", "div"),
)
_REGISTER = re.compile(r"\b(r1?\d|sp|lr|pc|ip|fp|sl|sb|[sd]\d+|q[0-7])\b")
_NAMES = {"ip": "r12", "fp": "r11", "sl": "r10", "sb": "r9"}
_RISCV_REGISTER = re.compile(r"\b([ast]\d+|ra|sp|gp|tp|zero)\b")
_STORES = {"store", "store_pair", "store_list", "float_store", "float_store_list", "vector_store"}
_NO_RESULT = frozenset({*_STORES, "vector_scatter_store", "branch"})


@dataclass(frozen=True)
class Operation:
    """One instruction. count: registers moved, 1 where it is no list. late: an accumulator that is read late.

    reads, writes: registers; memory and flags are left out. jumps: it always goes elsewhere.
    """

    kind: str
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    count: int = 1
    late: str = ""
    jumps: bool = False
    name: str = ""


@lru_cache(maxsize=65536)
def operation(name: str, operands: str, is_arm: bool) -> Operation:
    """The operation that objdump writes as `name operands`."""
    return _arm(re.sub(r"\.[nw]$", "", name), operands) if is_arm else _riscv(name.removeprefix("c."), operands)


def _first(patterns: tuple[tuple[re.Pattern[str], str], ...], name: str, default: str) -> str:
    return next((kind for pattern, kind in patterns if pattern.fullmatch(name)), default)


def _arm_kind(name: str, operands: str) -> str:
    if _PREDICATE.fullmatch(name):
        return "vector_predicate"
    if name.startswith("v"):
        return _vector_kind(name, operands) if re.search(r"\bq[0-7]\b", operands) else _first(_FLOAT, name, "float_alu")
    kind = _first(_ARM, name, "alu")
    if kind == "alu" and re.search(r"\b(lsl|lsr|asr|ror|rrx)\b", operands):
        return "shift"
    return kind


def _vector_kind(name: str, operands: str) -> str:
    kind = _first(_HELIUM, name, "vector_int")
    if kind in ("vector_load", "vector_store") and re.search(r"\[(q\d|\w+, q\d)", operands):
        return kind.replace("vector_", "vector_gather_" if kind == "vector_load" else "vector_scatter_")
    if kind == "vector_move" and not re.search(r"\[|\br\d", operands):
        return "vector_int"
    return kind


def _arm(name: str, operands: str) -> Operation:
    kind = _arm_kind(name, operands)
    count = _list_length(operands) if "list" in kind else 2 if "pair" in kind else 1
    parts = [_NAMES.get(r, r) for r in _registers(operands)]
    if kind in ("call", "jump", "nop", "loop_end"):
        return Operation(kind, jumps=kind in ("call", "jump"), name=name, reads=frozenset(parts))
    results = _results(kind, name, operands, parts)
    if "list" in kind:
        reads = frozenset(parts) - set(results)
    else:
        reads = frozenset(parts if _accumulates(kind, name, parts) else parts[len(results) :])
    writes = frozenset(results) | _written_back(operands)
    late = parts[3] if kind in ("mac", "mla") and len(parts) == 4 else ""
    if kind == "vector_mul" and parts:
        late = parts[0]
    jumps = kind in ("load", "load_list") and "pc" in writes
    return Operation(kind, reads - {"pc"}, writes - {"pc"}, count, late, jumps, name)


def _accumulates(kind: str, name: str, parts: list[str]) -> bool:
    """Whether the first register is read as well as written."""
    if kind in ("vector_mul", "float_mac"):
        return re.match(r"vf?n?m[la]|vr?ml[as]|v(add|abav|mla|mls|fma|fms).*", name) is not None and "v." not in name
    if kind == "alu" and len(parts) == 2:
        return name[:3] in _TWO
    return (kind == "mull" and "al" in name) or len(parts) == 1


_TWO = ("add", "sub", "orr", "and", "eor", "adc", "sbc", "bic", "cmp", "cmn", "tst")


def _results(kind: str, name: str, operands: str, parts: list[str]) -> list[str]:
    """The registers that come first in the text and are written."""
    if kind in _NO_RESULT or name[:3] in ("cmp", "cmn", "tst") or name.startswith(("vcmp", "vmsr")):
        return []
    if kind in ("load_list", "float_load_list"):
        return [_NAMES.get(r, r) for r in _registers(operands[operands.index("{") :])] if "{" in operands else []
    return parts[: 2 if kind in ("load_pair", "mull") else 1]


def _written_back(operands: str) -> frozenset[str]:
    moved = re.search(r"\[(\w+)[^\]]*\](!|, #)|^(\w+)!", operands)
    if not moved:
        return frozenset()
    register = moved[1] or moved[3]
    return frozenset({_NAMES.get(register, register)})


def _registers(operands: str) -> list[str]:
    """Registers in the order of the text, ranges such as r4-r7 written out."""
    text = re.sub(r"<[^>]*>", "", operands)
    text = re.sub(r"\b([rsdq])(\d+)-[rsdq](\d+)\b", lambda m: _range(m[1], int(m[2]), int(m[3])), text)
    return _REGISTER.findall(text)


def _range(letter: str, first: int, last: int) -> str:
    return ", ".join(f"{letter}{k}" for k in range(first, last + 1))


def _list_length(operands: str) -> int:
    inside = operands[operands.index("{") :] if "{" in operands else ""
    return max(len(_registers(inside)), 1)


def _riscv(name: str, operands: str) -> Operation:
    kind = _first(_RISCV, name, "alu")
    parts = _RISCV_REGISTER.findall(re.sub(r"<[^>]*>", "", operands))
    results = parts[:1] if kind not in ("store", "branch", "jump") else []
    reads = frozenset(parts[len(results) :])
    return Operation(kind, reads, frozenset(results) - {"zero"}, jumps=kind in ("call", "jump"), name=name)
