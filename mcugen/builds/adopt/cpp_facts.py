"""Facts about models in a source of firmware: arrays, calls of GetModel, arenas, resolvers, constants."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from mcugen.builds.adopt.cpp_tokens import Token, tokens
from mcugen.formats import read

_COMMA = rb"[uU]?\s*,\s*"
_DIGIT = rb"(?:4[89]|5[0-7]|0[xX]3[0-9])[uU]?\s*[,}\r\n]"
_REST = _COMMA.join((rb"", rb"(?:70|0[xX]46)", rb"(?:76|0[xX]4[cC])", _DIGIT))
_MARKS = tuple(re.compile(first + _REST) for first in (rb"0x54", rb"84", rb"0X54"))
"""Bytes five to eight of a .tflite flatbuffer, written as numbers: the letters TFL and a digit.

Each pattern begins with plain text, so that it is found quickly in sources of many megabytes.
"""
_WORDS = (b"GetModel", b"_binary_", b"MicroInterpreter", b"OpResolver", b"arena", b"Arena", b"ARENA")
_HEAD = 4096
_NO_SIZE = re.compile(r"nullptr|Create|variables|profiler|\*(?: \w+)?(?: = \w+)?$|^\w+(?: \w+)+$", re.IGNORECASE)
"""An argument that is not a size, although it is in the place of one: pointers, parameters of a declaration."""
_SIZES = {b"MicroInterpreter": 3, b"RecordingMicroInterpreter": 3, b"Create": 1, b"SimpleTensorAllocator": 1}
"""Constructor or function that takes an arena -> index of the argument with the arena's size."""


@dataclass(frozen=True)
class ModelArray:
    """An array that holds a flatbuffer. space: its namespaces; "" for an anonymous namespace.

    start, end: byte offsets of its declaration in the file. element: type of an element. condition: the #if around it.
    problem: why it cannot be read or replaced; "" without a problem
    """

    file: str
    line: int
    name: str
    space: tuple[str, ...]
    data: bytes
    start: int
    end: int
    element: str
    condition: str = ""
    problem: str = ""

    @property
    def symbol(self) -> str:
        return "::".join((*(part for part in self.space if part), self.name))

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass
class SourceFacts:
    """Facts about the models of one source.

    arguments: (line, argument) of each call of GetModel. sizes: C expressions of the sizes of arenas. operators: names
    of registered operators. kernels: (place, name) of kernels that the application registers; "" if the name is not a
    literal. embedded: variable -> linker symbol of the embedded file that it points to. all_operators: whether an
    AllOpsResolver is used. constants: name -> the expressions that define it
    """

    file: str
    arrays: list[ModelArray] = field(default_factory=list)
    arguments: list[tuple[int, str]] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    kernels: list[tuple[str, str]] = field(default_factory=list)
    embedded: dict[str, str] = field(default_factory=dict)
    all_operators: bool = False
    constants: dict[str, list[str]] = field(default_factory=dict)


def facts_of(file: str, source: bytes) -> SourceFacts | None:
    """The facts of a source; None if it has nothing to do with models. file: its path in the folder."""
    if not any(word in source for word in _WORDS) and not _holds_model(source):
        return None
    scan = _Scan(file, source)
    scan.run()
    return scan.facts


def _holds_model(text: bytes) -> bool:
    return any(pattern.search(text) for pattern in _MARKS)


class _Scan:
    """One pass over the tokens of a source. scopes: for each open brace, the names of its namespace, or None."""

    def __init__(self, file: str, source: bytes) -> None:
        self.source = source
        self.facts = SourceFacts(file)
        self.tokens = list(tokens(source))
        self.scopes: list[tuple[str, ...] | None] = []
        self.conditions: list[str] = []
        self.guard = _guard(self.tokens, source)

    def run(self) -> None:
        for k, token in enumerate(self.tokens):
            if token.kind == "directive":
                self._directive(self.text(token))
            elif token.kind == "mark":
                self._mark(k)
            elif token.kind == "word":
                self._word(k)
            elif token.kind in ("numbers", "unclosed", "conditional"):
                self._numbers(k)

    def text(self, token: Token) -> str:
        return self.source[token.start : token.end].decode("latin-1")

    def line(self, token: Token) -> int:
        return self.source.count(b"\n", 0, token.start) + 1

    def _directive(self, text: str) -> None:
        found = re.match(r"\s*#\s*(\w+)\s*(.*)", text, re.DOTALL)
        word, rest = (found[1], " ".join(found[2].split())) if found else ("", "")
        if word in ("if", "ifdef", "ifndef"):
            is_guard = word == "ifndef" and rest.split(" ")[0] == self.guard
            self.conditions.append("" if is_guard else f"#{word} {rest}")
        elif word in ("else", "elif") and self.conditions:
            self.conditions[-1] = f"#{word} of {self.conditions[-1]}" if word == "else" else f"#elif {rest}"
        elif word == "endif" and self.conditions:
            self.conditions.pop()
        elif word == "define" and (macro := re.match(r"(\w+)\s+([^/]+)", rest)):
            self.facts.constants.setdefault(macro[1], []).append(macro[2].strip())

    def _mark(self, k: int) -> None:
        mark = self.text(self.tokens[k])
        if mark == "{":
            self.scopes.append(self._space(k))
        elif mark == "}" and self.scopes:
            self.scopes.pop()
        elif mark == "=" and k and self.tokens[k - 1].kind == "word":
            self._constant(k)

    def _space(self, k: int) -> tuple[str, ...] | None:
        """The names of the namespace that the brace at token k opens; () for extern "C", None for other braces."""
        before = [self.text(token) for token in self.tokens[max(0, k - 8) : k]]
        if before[-2:-1] == ["extern"] and before[-1] in ('"C"', '"C++"'):
            return ()
        names: list[str] = []
        while before and (before[-1] == "::" or re.fullmatch(r"\w+", before[-1])) and before[-1] != "namespace":
            name = before.pop()
            names += [] if name in ("::", "inline") else [name]
        return (tuple(reversed(names)) or ("",)) if before and before[-1] == "namespace" else None

    def _constant(self, k: int) -> None:
        """Record a constant that is defined by the = at token k. Its expression may have up to 64 tokens."""
        after = self.tokens[k + 1 : k + 65]
        texts = [self.text(token) for token in after]
        if ";" in texts and "{" not in texts[: texts.index(";")]:
            name, value = self.text(self.tokens[k - 1]), " ".join(texts[: texts.index(";")])
            before = [self.text(token) for token in self.tokens[max(0, k - 6) : k - 1]]
            if {"const", "constexpr", "static"} & set(before):
                self.facts.constants.setdefault(name, []).append(value)

    def _word(self, k: int) -> None:
        word = self.source[self.tokens[k].start : self.tokens[k].end]
        if word == b"GetModel":
            self._model_of(k)
        elif word in _SIZES:
            self._arena(k, _SIZES[word])
        elif word == b"AllOpsResolver":
            self.facts.all_operators = True
        elif word in (b"asm", b"__asm__", b"__asm"):
            self._embedded(k)
        elif word.startswith(b"Add") and k and self.text(self.tokens[k - 1]) in (".", "->"):
            self._operator(k, word.decode("latin-1"))

    def _arguments(self, k: int) -> list[list[Token]] | None:
        """The arguments in the parentheses or braces that open at token k; None if token k opens none, or no end is
        found.
        """
        depth, found = 0, [list[Token]()]
        for token in self.tokens[k : k + 400]:
            text = self.text(token) if token.kind == "mark" else ""
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if depth == 0:
                return found if text in (")", "}") else None
            if depth == 1 and text == ",":
                found.append([])
            elif depth > 1 or text not in ("(", "{"):
                found[-1].append(token)
        return None

    def _texts(self, argument: Sequence[Token]) -> str:
        return " ".join(self.text(token) for token in argument)

    def _model_of(self, k: int) -> None:
        arguments = self._arguments(k + 1)
        if arguments is not None and len(arguments) == 1 and arguments[0] and "*" not in self._texts(arguments[0]):
            self.facts.arguments.append((self.line(self.tokens[k]), self._texts(arguments[0]).replace(" ", "")))

    def _arena(self, k: int, place: int) -> None:
        """Record the arena size in `MicroInterpreter name(...)`, `MicroInterpreter(...)` or
        `MicroAllocator::Create(...)`.
        """
        named = k + 1 < len(self.tokens) and self.tokens[k + 1].kind == "word"
        arguments = self._arguments(k + 1 + named)
        if arguments is None or (named and self.text(self.tokens[k]) == "Create"):
            return
        owner = self.text(self.tokens[k - 2]) if k > 1 else ""
        if self.text(self.tokens[k]) == "Create" and owner not in ("MicroAllocator", "RecordingMicroAllocator"):
            return
        if len(arguments) > place and "const" not in self._texts(arguments[place]).split():
            size = self._texts(arguments[place])
            if not _NO_SIZE.search(size):
                self.facts.sizes.append(size)

    def _embedded(self, k: int) -> None:
        """Record NAME of `extern const uint8_t NAME[] asm("_binary_FILE_start")`, as for ESP-IDF's EMBED_FILES."""
        texts = [self.text(token) for token in self.tokens[max(0, k - 3) : k + 4]]
        found = re.search(r'(\w+)(?: \[ \])? \w+ \( "(_binary_\w+_start)" \)', " ".join(texts))
        if found:
            self.facts.embedded[found[1]] = found[2]

    def _operator(self, k: int, word: str) -> None:
        arguments = self._arguments(k + 1)
        if arguments is None:
            return
        texts = [self._texts(argument) for argument in arguments]
        if word == "AddBuiltin":
            name = re.search(r"BuiltinOperator_(\w+)", texts[0])
            self.facts.operators += [name[1]] if name else []
        elif word == "AddCustom":
            name_text, kernel = texts[0].strip('" '), texts[1] if len(texts) > 1 else ""
            if re.match(r"(?:tflite :: )(?:\w+ :: )*Register_\w+ ", kernel):
                self.facts.operators.append(name_text)
            else:
                own = name_text if texts[0].startswith('"') else ""
                self.facts.kernels.append((f"{self.facts.file}:{self.line(self.tokens[k])}", own))
        else:
            self.facts.operators.append(word.removeprefix("Add"))

    def _numbers(self, k: int) -> None:
        token = self.tokens[k]
        head = self.source[token.start : token.start + _HEAD]
        if k < 1 or not _holds_model(head):
            return
        first = self._declaration(k)
        declared = self.tokens[first:k]
        brackets = [n for n, t in enumerate(declared) if self.text(t) == "["]
        name = self.text(declared[brackets[0] - 1]) if brackets and brackets[0] else ""
        if not name or not re.fullmatch(r"\w+", name):
            return
        last = self.tokens[k + 1] if k + 1 < len(self.tokens) and self.text(self.tokens[k + 1]) == ";" else token
        content = self.source[declared[brackets[0] - 1].start : token.end]
        data = next((values for _, values in read.arrays(content)), b"")
        if data[4:7] != b"TFL" and token.kind == "numbers":
            return
        self.facts.arrays.append(
            ModelArray(
                self.facts.file,
                self.line(declared[0]),
                name,
                tuple(part for scope in self.scopes for part in scope or ()),
                data,
                declared[0].start,
                last.end,
                _element([self.text(t) for t in declared]),
                next((condition for condition in reversed(self.conditions) if condition), ""),
                self._problem(token, declared[brackets[0] :], data),
            )
        )

    def _declaration(self, k: int) -> int:
        """Index of the first token of the declaration whose initializer is token k."""
        first = k
        while first and self.tokens[first - 1].kind != "directive":
            if self.text(self.tokens[first - 1]) in (";", "{", "}") or k - first > 40:
                break
            first -= 1
        if first + 1 < k and self.text(self.tokens[first]) == "extern" and self.tokens[first + 1].kind == "text":
            first += 2
        return first

    def _problem(self, token: Token, after: Sequence[Token], data: bytes) -> str:
        if token.kind == "unclosed":
            return "the file ends within the array"
        if token.kind == "conditional":
            return "preprocessor lines stand within the array"
        if None in self.scopes:
            return "the array is local to a function or class"
        size = re.match(r"\[ (0[xX][0-9a-fA-F]+|\d+)[uUlL]* \]", self._texts(after))
        if size and int(size[1], 0) != len(data):
            return f"the array is declared with {int(size[1], 0):,} bytes and has {len(data):,}"
        if data[7:8] != b"3":
            return f"the flatbuffer is of the schema {data[4:8].decode()}, and mcugen reads TFL3"
        return ""


def _guard(listed: Sequence[Token], source: bytes) -> str:
    """The macro that guards a header against a second inclusion; "" without a guard."""
    first = [source[t.start : t.end].decode("latin-1").split() for t in listed[:4] if t.kind == "directive"][:3]
    for before, after in itertools.pairwise(first):
        if before[0].lstrip("#") == "ifndef" and after[:1] == ["#define"] and before[1:2] == after[1:2]:
            return before[1]
    return ""


def _element(words: Sequence[str]) -> str:
    """The type of an array's elements, from the words of its declaration."""
    const = "const " if {"const", "constexpr"} & set(words) else ""
    names = [word for word in words if word in ("unsigned", "signed", "char", "uint8_t", "int8_t", "byte")]
    return const + (" ".join(names) or "unsigned char")
