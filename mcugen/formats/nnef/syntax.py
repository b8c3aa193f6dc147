"""Parser of graph.nnef: checks limits, lets the nnef package parse the text, and returns plain values.

The package's native parser crashes the process on deeply nested brackets. It runs in a child process with limits, if
the system can fork.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
import select
import signal
import time
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from mcugen.errors import CorruptModelError, UnsupportedError, UsageError

MAX_DEPTH = 64
MAX_INTEGER = 2**31 - 1
MAX_OPERATIONS = 10_000
MAX_LITERALS = 1 << 22
SECONDS = 8.0
MEMORY = 600_000_000
_TOKEN = re.compile(r"#[^\n]*|'[^'\n]*'|\"[^\"\n]*\"|[A-Za-z_]\w*|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|->|\S", re.ASCII)
_HINT = "check the file with the nnef package, and export it again"


class Reference(str):
    """The name of a tensor."""


@dataclass(frozen=True)
class NnefOperation:
    """An operation of the graph. inputs, outputs: References, numbers, or lists of them, by parameter."""

    name: str
    attributes: Mapping[str, Any]
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    dtype: str | None


@dataclass(frozen=True)
class Parsed:
    """A flat graph. quantizations: tensor -> its attributes in graph.quant."""

    operations: tuple[NnefOperation, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    quantizations: Mapping[str, Mapping[str, Any]]


def parse(text: str, quant: str, known: Collection[str]) -> Parsed:
    """The graph, with all fragments expanded except the operations in `known`.

    Raises CorruptModelError, UnsupportedError; UsageError if the nnef package is missing.
    """
    fragments = scan(text, "graph.nnef")
    scan(quant, "graph.quant")
    try:
        import nnef
    except ImportError as error:
        hint = "pip install 'mcugen[nnef]'"
        raise UsageError("reading NNEF models needs the nnef package", hint=hint) from error
    lowered = sorted((set(nnef.StandardOperations) | fragments) - set(known))
    found = _in_child(text, quant, lowered) if hasattr(os, "fork") else _parsed(text, quant, lowered)
    if "error" in found:
        raise CorruptModelError(f"the text of the model cannot be parsed: {found['error'][:300]}", hint=_HINT)
    operations = tuple(_operation(row) for row in found["operations"])
    if len(operations) > MAX_OPERATIONS:
        raise UnsupportedError(f"the model has {len(operations)} operations, more than {MAX_OPERATIONS}")
    return Parsed(operations, tuple(found["inputs"]), tuple(found["outputs"]), found["quantizations"])


def scan(text: str, name: str) -> set[str]:
    """The names of the fragments that a text defines.

    Raises CorruptModelError or UnsupportedError for texts that would crash the parser: with deeply nested brackets,
    too large integers, or fragments that call themselves.
    """
    depth = literals = 0
    calls: dict[str, Counter[str]] = {}
    current, before, defined = "", "", ""
    for token in _tokens(text):
        depth += (token in "([{") - (token in ")]}")
        if depth > MAX_DEPTH:
            raise UnsupportedError(f"{name} nests brackets more than {MAX_DEPTH} deep")
        if token[0].isdigit():
            literals += 1
            if token.isdigit() and (len(token) > 10 or int(token) > MAX_INTEGER):
                raise CorruptModelError(f"{name} holds the integer {token[:24]}, beyond 31 bits")
        if before in ("fragment", "graph"):
            current = token if before == "fragment" else ""
            calls.setdefault(current, Counter())
            defined = token
        if token == "(" and before == defined:
            defined = ""
        elif token == "(" and (before[0:1].isalpha() or before[0:1] == "_" or before == ">"):
            calls.setdefault(current, Counter())[before] += 1
        if token == "*" and before == "]":
            raise UnsupportedError(
                f"{name} repeats a list by [...] * n, which is not supported", hint="write the list out"
            )
        before = token
    if literals > MAX_LITERALS:
        raise UnsupportedError(f"{name} holds more than {MAX_LITERALS} numbers")
    _check_calls(calls)
    return {fragment for fragment in calls if fragment}


def _tokens(text: str) -> Iterator[str]:
    return (m[0] for m in _TOKEN.finditer(text) if m[0][0] not in "#'\"")


def _check_calls(calls: Mapping[str, Counter[str]]) -> None:
    """Raise CorruptModelError for fragments that call themselves, UnsupportedError for too large an expansion."""
    sizes: dict[str, int] = {}
    waiting = [(name, False) for name in calls]
    open_now: set[str] = set()
    while waiting:
        name, is_done = waiting.pop()
        if is_done:
            open_now.discard(name)
            sizes[name] = 1 + sum(count * sizes.get(other, 1) for other, count in calls[name].items() if other != name)
            if sizes[name] > 10 * MAX_OPERATIONS:
                raise UnsupportedError(f"fragments expand to more than {10 * MAX_OPERATIONS} operations")
        elif name not in sizes and name not in open_now:
            open_now.add(name)
            waiting.append((name, True))
            for other in calls[name]:
                if other in open_now and other in calls and other:
                    raise CorruptModelError(f"fragment {other!r} calls itself")
                if other in calls and other not in sizes:
                    waiting.append((other, False))


def _operation(row: Mapping[str, Any]) -> NnefOperation:
    return NnefOperation(
        row["name"],
        {key: _read(value) for key, value in row["attributes"].items()},
        {key: _read(value) for key, value in row["inputs"].items()},
        {key: _read(value) for key, value in row["outputs"].items()},
        row["dtype"],
    )


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        return Reference(value["name"])
    return [_read(item) for item in value] if isinstance(value, list) else value


def _parsed(text: str, quant: str, lowered: list[str]) -> dict[str, Any]:
    """The result of the nnef package's parser, as values that JSON can hold."""
    import nnef

    try:
        graph = nnef.parse_string(text, quant or None, lowered=lowered)
    except nnef.Error as error:
        return {"error": str(error)}
    rows = [
        {
            "name": op.name,
            "attributes": {key: _plain(value, nnef.Identifier) for key, value in op.attribs.items()},
            "inputs": {key: _plain(value, nnef.Identifier) for key, value in op.inputs.items()},
            "outputs": {key: _plain(value, nnef.Identifier) for key, value in op.outputs.items()},
            "dtype": op.dtype,
        }
        for op in graph.operations
    ]
    quantizations = {
        name: {key: _plain(value, nnef.Identifier) for key, value in tensor.quantization.items()}
        for name, tensor in graph.tensors.items()
        if tensor.quantization
    }
    ends = {"inputs": list(map(str, graph.inputs)), "outputs": list(map(str, graph.outputs))}
    return {"operations": rows, "quantizations": quantizations, **ends}


def _plain(value: Any, identifier: type) -> Any:
    if isinstance(value, identifier):
        return {"name": str(value)}
    if isinstance(value, list | tuple):
        return [_plain(item, identifier) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _in_child(text: str, quant: str, lowered: list[str]) -> dict[str, Any]:
    """The parser's result from a child process. Raises CorruptModelError if the child crashes or takes too long."""
    source, sink = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child of the fork starts no threads
        child = os.fork()
    if child == 0:
        _child(sink, text, quant, lowered)
    os.close(sink)
    data = bytearray()
    deadline = time.monotonic() + SECONDS
    try:
        while True:
            ready, _, _ = select.select([source], [], [], max(deadline - time.monotonic(), 0))
            part = os.read(source, 1 << 16) if ready else b""
            if not part:
                break
            data += part
    finally:
        os.close(source)
        if not data.endswith(b"\n"):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not data.endswith(b"\n"):
        raise CorruptModelError("the nnef package crashes or hangs on the text of the model", hint=_HINT)
    found: dict[str, Any] = json.loads(data)
    return found


def _child(sink: int, text: str, quant: str, lowered: list[str]) -> NoReturn:
    """Parse, write the result and a line end, and end the process, whatever happens."""
    try:
        faulthandler.disable()
        with contextlib.suppress(OSError, ValueError):  # no /proc, or limits that are lower already
            _limit()
        with os.fdopen(sink, "wb") as file:
            file.write(json.dumps(_parsed(text, quant, lowered)).encode() + b"\n")
    finally:
        os._exit(0)


def _limit() -> None:
    """Limit the memory and the processor time of this process."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = mapped + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))
    resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS), int(SECONDS) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
