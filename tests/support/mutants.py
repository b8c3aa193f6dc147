"""One-token mutants of C functions: an operator, a constant or a name exchanged, or a term dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)[uUlLfF]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
OPERATORS: dict[str, tuple[str, ...]] = {
    "+": ("-",), "-": ("+",), "*": ("/", "+"), "/": ("*",), "%": ("/",),
    "<": ("<=", ">"), "<=": ("<", ">"), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",),
    "&": ("|",), "|": ("&", "^"), "^": ("|",), "<<": (">>",), ">>": ("<<",), "&&": ("||",), "||": ("&&",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("+=",), "|=": ("&=",), "&=": ("|=",),
}  # fmt: skip
_DROPPED = frozenset({"+", "-", "*", "/", "<<", ">>", "&", "|", "^"})
_TERM_ENDS = frozenset(";),]?:+-")
_KEYWORDS = frozenset(
    {"if", "else", "for", "return", "const", "static", "inline", "sizeof", "struct", "typedef", "void", "char", "int"}
    | {"unsigned", "float", "double", "long", "short", "switch", "case", "break", "default", "enum", "extern"}
)
_TYPE = re.compile(r"\w+_t|mg_[suf]\d+|mg_\w+_(params|taps|span)|mg_span")


@dataclass(frozen=True)
class Token:
    """A token of a function's body: its text and where it starts."""

    kind: str
    text: str
    at: int
    function: str


@dataclass(frozen=True)
class Mutant:
    """Source text [at, at + length) of `file` replaced; function: where it is."""

    file: str
    at: int
    length: int
    replacement: str
    function: str

    def applied(self, source: str) -> str:
        return source[: self.at] + self.replacement + source[self.at + self.length :]

    def describe(self, source: str) -> str:
        """file:line and the line before and after."""
        line = source.count("\n", 0, self.at)
        before, after = source.splitlines()[line], self.applied(source).splitlines()[line]
        return f"{self.file}:{line + 1} in {self.function}\n  - {before.strip()}\n  + {after.strip()}"


def mutants(file: str, source: str) -> list[Mutant]:
    """Every mutant of the functions of a source, in the order of the text."""
    tokens = list(body_tokens(source))
    names = sorted({t.text for t in tokens if _is_value(t)})
    found = [_mutant(file, t.at, len(t.text), new, t) for t in tokens for new in _exchanges(t, names)]
    found += _dropped_terms(file, tokens)
    return sorted(found, key=lambda m: (m.at, m.length, m.replacement))


def _mutant(file: str, at: int, length: int, new: str, token: Token) -> Mutant:
    return Mutant(file, at, length, new, token.function)


def body_tokens(source: str) -> Iterator[Token]:
    """The tokens inside function bodies: what stands in braces that follow a parameter list."""
    depth, inside, function, last_name, previous, nesting = 0, False, "", "", "", 0
    for match in _TOKEN.finditer(source):
        kind, text = str(match.lastgroup), match.group()
        if kind == "skip":
            continue
        if depth == 0 and kind == "name" and nesting == 0:
            last_name = text
        nesting += (text == "(") - (text == ")") if depth == 0 else 0
        if text == "{":
            if depth == 0:
                inside, function = previous == ")", last_name
            depth += 1
        depth -= text == "}"
        if depth > 0 and inside:
            yield Token(kind, text, match.start(), function)
        previous = text


def _exchanges(token: Token, names: Sequence[str]) -> Iterator[str]:
    if token.kind == "sign":
        yield from OPERATORS.get(token.text, ())
    elif token.kind == "number":
        yield from other_numbers(token.text)
    elif token.kind == "name" and _is_value(token):
        yield from (name for name in names if alike(name, token.text))


def other_numbers(text: str) -> list[str]:
    """Integers near the one of a token, with its suffix; none for other numbers."""
    digits = re.match(r"0[xX][0-9a-fA-F]+|\d+", text)
    if digits is None or re.fullmatch(r"[uUlL]*", text[digits.end() :]) is None:
        return []
    value, suffix = int(digits.group(), 0), text[digits.end() :]
    others = {value + 1, value - 1} | ({0, 1, 2} if value in (0, 1, 2) else set())
    return [f"{other}{suffix}" for other in sorted(others - {value}) if other >= 0]


def alike(a: str, b: str) -> bool:
    """Whether two names are easily taken for each other: one character or one part between underscores differs."""
    if a == b or min(len(a), len(b)) == 0:
        return False
    if len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1:
        return True
    parts = (a.split("_"), b.split("_"))
    if len(parts[0]) != len(parts[1]) or len(parts[0]) == 1:
        return False
    return sum(x != y for x, y in zip(*parts, strict=True)) == 1


def _dropped_terms(file: str, tokens: Sequence[Token]) -> Iterator[Mutant]:
    """`a + b;` without `+ b`, where b is a name with its fields and indices, or a number."""
    for k in range(1, len(tokens) - 2):
        operator, before = tokens[k], tokens[k - 1]
        is_binary = before.kind == "number" or before.text in (")", "]") or _is_value(before)
        if operator.text not in _DROPPED or not is_binary:
            continue
        end = _end_of_term(tokens, k + 1)
        if end and tokens[end].text in _TERM_ENDS:
            start, stop = before.at + len(before.text), tokens[end - 1].at + len(tokens[end - 1].text)
            yield _mutant(file, start, stop - start, "", operator)


def _is_value(token: Token) -> bool:
    return token.kind == "name" and token.text not in _KEYWORDS and _TYPE.fullmatch(token.text) is None


def _end_of_term(tokens: Sequence[Token], k: int) -> int:
    """Index behind the simple term that starts at k; 0 where there is none."""
    if tokens[k].kind == "number":
        return k + 1
    if not _is_value(tokens[k]):
        return 0
    k += 1
    depth = 0
    for end in range(k, len(tokens)):
        text = tokens[end].text
        if depth == 0 and text == "(":
            return 0
        if depth == 0 and text not in ("->", ".", "[") and tokens[end - 1].text not in ("->", "."):
            return end
        depth += (text == "[") - (text == "]")
    return 0
