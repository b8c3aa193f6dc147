"""Arguments of an OpenCL kernel: pointers to memories, and one struct with all numbers.

Kernel sources declare their arguments one by one: each tensor as a memory and a start offset in it. A driver processes
every argument of every launch; an NVIDIA driver took twice as long for eight memories and 32 numbers as for two
memories. The emitted kernel therefore takes pointers for tensors in the arena, one memory of constants, and a struct.
It then assigns the declared names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mcugen.errors import InternalError

CONSTANTS = "mem_constants"
"""Name of the memory that holds all constants that a kernel only reads."""

_HEAD = re.compile(r"kernel (?:__attribute__\(\(.*?\)\)\s*)?void (\w+)\((.*?)\)\n\{\n", re.DOTALL)
_DIRECTIVE = re.compile(r"^#(if|elif|else|endif|define)\b(.*)$")
_TAKE = re.compile(r"TAKE\((\d+)\)")
_DECLARED = re.compile(r"(.*?)(\w+)$", re.DOTALL)
_TENSOR = re.compile(r"mem_(in\d+|out|scratch)$")


@dataclass(frozen=True)
class Arguments:
    """Names of a kernel's pointers and of the members of its struct, both in order."""

    memories: tuple[str, ...]
    numbers: tuple[str, ...]


def packed(text: str, function: str, constants: Mapping[str, int]) -> tuple[str, Arguments]:
    """A kernel's text with packed arguments, and the arguments. constants: values of macros in preprocessor
    conditions.
    """
    head = _HEAD.search(text)
    if head is None:
        raise InternalError(f"{function} has no line `kernel void name(...)`", where="emit")
    pointers, shared, numbers = _sorted(_declarations(head[2], constants))
    members = "".join(f"    {kind} {name};\n" for name, kind in numbers.items())
    struct = f"typedef struct {{\n{members}}} {function}_numbers;\n\n"
    taken = [f"{kind}{name}" for name, kind in pointers.items()]
    taken += [f"global const uchar *restrict {CONSTANTS}"] if shared else []
    taken += [f"const {function}_numbers given"]
    names = [f"global const uchar *const {name} = {CONSTANTS}" for name in shared]
    names += [f"const {kind} {name} = given.{name}" for name, kind in numbers.items()]
    before = text[head.start() : head.start(2)]
    body = "".join(f"    {line};\n" for line in names)
    made = f"{struct}{before}{', '.join(taken)})\n{{\n{body}"
    memories = (*pointers, *((CONSTANTS,) if shared else ()))
    return text[: head.start()] + made + text[head.end() :], Arguments(memories, tuple(numbers))


def _sorted(declared: list[tuple[str, str]]) -> tuple[dict[str, str], list[str], dict[str, str]]:
    """Name -> type of pointers that remain; names of pointers into the shared constants; name -> type of numbers."""
    pointers: dict[str, str] = {}
    shared: list[str] = []
    numbers: dict[str, str] = {}
    for kind, name in declared:
        if "*" not in kind:
            numbers[name] = kind.removeprefix("const ").strip()
        elif "const " in kind and not _TENSOR.match(name):
            shared.append(name)
        else:
            pointers[name] = kind
    return pointers, shared, numbers


def _declarations(text: str, constants: Mapping[str, int]) -> list[tuple[str, str]]:
    """(type, name) of each parameter of an OpenCL kernel. constants: macros for preprocessing the parameter list."""
    tensors = r"global const uchar *restrict mem_in\1, const uint at_in\1,"
    listed = _TAKE.sub(tensors, _preprocessed(text, constants))
    found = [_DECLARED.search(part.strip()) for part in listed.split(",") if part.strip()]
    return [(match[1], match[2]) for match in found if match]


def _preprocessed(text: str, constants: Mapping[str, int]) -> str:
    """The lines that preprocessor conditions select. constants: values of names; other names are 0."""
    kept: list[str] = []
    open_: list[tuple[bool, bool]] = []  # per open #if: whether its lines are kept, whether any branch was kept
    for line in text.split("\n"):
        found = _DIRECTIVE.match(line)
        if found is None:
            if all(keeps for keeps, _ in open_):
                kept.append(line)
            continue
        kind = found[1]
        if kind == "if":
            holds = _holds(found[2], constants)
            open_.append((holds, holds))
        elif kind == "elif":
            holds = not open_[-1][1] and _holds(found[2], constants)
            open_[-1] = (holds, open_[-1][1] or holds)
        elif kind == "else":
            open_[-1] = (not open_[-1][1], True)
        elif kind == "endif":
            open_.pop()
    return "\n".join(kept)


def _holds(condition: str, constants: Mapping[str, int]) -> bool:
    text = re.sub(r"defined\(\w+\)", "0", condition)
    text = re.sub(r"[A-Za-z_]\w*", lambda m: str(constants.get(m[0], 0)), text)
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    if not re.fullmatch(r"[\d\s()<>=!+*/%a-z-]*", text):
        raise InternalError(f"the condition {condition.strip()!r} of a kernel cannot be read", where="emit")
    return bool(eval(text, {"__builtins__": {}}, {}))
