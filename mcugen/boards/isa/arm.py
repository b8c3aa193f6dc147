"""Arm's Thumb instruction sets of Cortex-M, with DSP, floating point and Helium.

An instruction that no pattern matches has the kind "alu". An instruction that changes neither stack pointer nor program
counter is followed by the next one. Source: Armv8-M Architecture Reference Manual (DDI0553), C2.4.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mcugen.boards.isa import UNBOUNDED, Instruction, InstructionSet, Lines, Operation, constant, growth, place

_CONDITION = "(?:eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)"


def _patterns(*rows: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(f"(?:{pattern}){_CONDITION}?"), kind) for pattern, kind in rows)


_ARM = _patterns(
    ("nop|it[te]*", "nop"),
    (f"cbn?z|b{_CONDITION}", "branch"),
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
_REGISTER = re.compile(r"\b(r1?\d|sp|lr|pc|ip|fp|sl|sb|[sd]\d+|q[0-7])\b")
_NAMES = {"ip": "r12", "fp": "r11", "sl": "r10", "sb": "r9"}
_STORES = {"store", "store_pair", "store_list", "float_store", "float_store_list", "vector_store"}
_NO_RESULT = frozenset({*_STORES, "vector_scatter_store", "branch"})


_BRANCH = re.compile(rf"b{_CONDITION}|cbz|cbnz|le|letp|wls|wlstp\..*")
_STACK = re.compile(rf"(v?push|v?pop|v?stmdb|v?ldmia|subw?|addw?|strd?|ldrd?)({_CONDITION})?")
_BX = re.compile(rf"bx({_CONDITION})?")
_READS_ONLY = re.compile(r"cmp|cmn|tst|v?str.*|v?stm.*|v?ldm.*")


def _plain(mnemonic: str) -> str:
    """The mnemonic without the suffix for the width of its encoding."""
    return re.sub(r"\.[nw]$", "", mnemonic)


@lru_cache(maxsize=65536)
def operation(mnemonic: str, operands: str) -> Operation:
    """The operation of the instruction that objdump prints as `mnemonic operands`."""
    name = _plain(mnemonic)
    kind = _kind(name, operands)
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


def _first(patterns: tuple[tuple[re.Pattern[str], str], ...], name: str, default: str) -> str:
    return next((kind for pattern, kind in patterns if pattern.fullmatch(name)), default)


def _kind(name: str, operands: str) -> str:
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


def _accumulates(kind: str, name: str, parts: list[str]) -> bool:
    """Whether the first register is read as well as written."""
    if kind in ("vector_mul", "float_mac"):
        return re.match(r"vf?n?m[la]|vr?ml[as]|v(add|abav|mla|mls|fma|fms).*", name) is not None and "v." not in name
    if kind == "alu" and len(parts) == 2:
        return name[:3] in _TWO
    return (kind == "mull" and "al" in name) or len(parts) == 1


_TWO = ("add", "sub", "orr", "and", "eor", "adc", "sbc", "bic", "cmp", "cmn", "tst")


def _results(kind: str, name: str, operands: str, parts: list[str]) -> list[str]:
    """The registers that an instruction writes. They come first in its text."""
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
    """Registers in text order, with ranges such as r4-r7 expanded."""
    text = re.sub(r"<[^>]*>", "", operands)
    text = re.sub(r"\b([rsdq])(\d+)-[rsdq](\d+)\b", lambda m: _range(m[1], int(m[2]), int(m[3])), text)
    return _REGISTER.findall(text)


def _range(letter: str, first: int, last: int) -> str:
    return ", ".join(f"{letter}{k}" for k in range(first, last + 1))


def _list_length(operands: str) -> int:
    inside = operands[operands.index("{") :] if "{" in operands else ""
    return max(len(_registers(inside)), 1)


def instruction(lines: Lines, k: int) -> Instruction:
    """The effect of the instruction in row k on control flow and stack."""
    _, mnemonic, operands, _ = lines.rows[k]
    name = _plain(mnemonic)
    if name == "nop":
        return Instruction(flow="pad")
    if name in ("bl", "blx", "b"):
        target = place(operands)
        if target is None:
            return Instruction(flow="register")
        return Instruction(flow="jump" if name == "b" else "call", target=target)
    if _BRANCH.fullmatch(name):
        return Instruction(flow="branch", target=place(operands))
    if bx := _BX.fullmatch(name):
        returns = operands == "lr" or _was_popped(lines, k, operands)
        return Instruction(flow="return" if returns else "register", falls_through=bool(bx[1]))
    if name in ("tbb", "tbh") or (name in ("mov", "add") and operands.startswith("pc,")):
        return Instruction(flow="computed")
    return _moved(lines, k, name, operands)


def _was_popped(lines: Lines, k: int, register: str) -> bool:
    """Whether the register was just popped from the stack. Thumb-1 functions that saved lr return this way."""
    return any(
        mnemonic == "pop" and re.search(rf"\b{register}\b", operands) is not None
        for _, mnemonic, operands, _ in lines.rows[max(0, k - 2) : k]
    )


def _moved(lines: Lines, k: int, name: str, operands: str) -> Instruction:
    """The effect of any other instruction: it may push, pop, change the stack pointer, or load the program counter."""
    match = _STACK.fullmatch(name)
    grows = _growth(lines, k, match[1], operands) if match else None
    loads_pc = re.search(r"\bpc\b", operands.split("[")[0]) is not None and name.startswith(("pop", "ldr", "ldmia"))
    conditional = match is not None and bool(match[2])
    if loads_pc:
        from_stack = grows is not None
        return Instruction(flow="return" if from_stack else "computed", falls_through=conditional)
    if grows is None:
        if operands.startswith("sp!") or (operands.startswith("sp,") and not _READS_ONLY.fullmatch(name)):
            return Instruction(flow="unbounded")
        return Instruction()
    if grows == UNBOUNDED:
        return Instruction(flow="unbounded")
    return Instruction(max(grows, 0) if conditional else grows)


def _growth(lines: Lines, k: int, base: str, operands: str) -> int | None:
    """Bytes by which a stack instruction deepens the stack, or UNBOUNDED; None if it leaves the stack pointer
    unchanged.
    """
    if base in ("push", "vpush"):
        return _list_bytes(operands)
    if base in ("pop", "vpop"):
        return -_list_bytes(operands)
    if base in ("stmdb", "vstmdb", "ldmia", "vldmia"):
        if not operands.startswith("sp!"):
            return None
        return _list_bytes(operands) * (1 if base.endswith("db") else -1)
    if base in ("str", "strd", "ldr", "ldrd"):
        moved = re.search(r"\[sp, #(-?\d+)\]!|\[sp\], #(-?\d+)", operands)
        return -int(moved[1] or moved[2]) if moved else None
    if not operands.startswith("sp,"):
        return None
    amount = operands.split(", ")[-1]
    value = int(amount[1:]) if amount.startswith("#") else constant(lines, k, amount, _loaded)
    return growth(value, base)


def _list_bytes(operands: str) -> int:
    """Size in bytes of a register list such as {r4, r5, lr} or {d8-d15}."""
    total = 0
    for item in operands[operands.index("{") + 1 : operands.index("}")].split(","):
        first, _, last = item.strip().partition("-")
        count = int(last[1:]) - int(first[1:]) + 1 if last else 1
        total += count * (8 if first.startswith("d") else 4)
    return total


def _loaded(lines: Lines, mnemonic: str, parts: Sequence[str], note: str) -> int | None:
    if mnemonic.startswith("ldr") and "[pc" in parts[1]:
        where = place(note)
        return None if where is None else lines.words.get(where)
    if re.fullmatch(r"movs?(\.w)?|movw", mnemonic) and re.fullmatch(r"#-?\d+", parts[1]):
        return int(parts[1][1:])
    return None


ISA = InstructionSet(
    name="arm",
    comments="@;",
    longest_bytes=4,
    instruction=instruction,
    operation=operation,
    unwind=(".ARM.",),
    feature_needs={
        "multiple_loads": frozenset({"dsp"}),
        "mve": frozenset({"fpu"}),
        "mve_float": frozenset({"fpu", "mve"}),
    },
)
