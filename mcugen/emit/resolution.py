"""Checks that every name in C generated for a model is declared before use, in its file or an included header.

The check reads tokens and needs no compiler, as generated C has few forms. Kernels that do not depend on the model are
compiled by the tests instead. In an initializer, a member must belong to the type of the variable. Elsewhere any type
that the file includes may have it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcugen.emit.stub_headers import stubs
from mcugen.errors import InternalError

_HIDDEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
    re.DOTALL | re.MULTILINE,
)
"""A comment, a string, a character constant or a directive."""

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|->|\n|[^\s\w]")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include [<"]([^>"]+)[>"]', re.MULTILINE)
_LINKAGE = re.compile(r"\bextern\s*\{")
_INNER = re.compile(r"\([^()]*\)|\{[^{}]*\}|\[[^][]*\]")
_TYPEDEF = re.compile(r"\btypedef\b[^;]*?(\w+)\s*(?:__attribute__\s*)?;")
_STRUCT = re.compile(r"\b(?:struct|union)\s+(?:\w+\s*)?\{([^{}]*)\}\s*(\w*)")
_ENUM = re.compile(r"\benum\b[^{};]*\{([^{}]*)\}")
_POINTER = re.compile(r"\(\s*\*\s*(\w+)\s*\)\s*\([^()]*\)")
_MEMBER = re.compile(r"(\w+)\s*(?:\[[^;]*?\]\s*)*[;,]|\b([A-Z][A-Z0-9_]+)\b")
"""Name of a member, or of a macro that stands for several members."""

_WORD = re.compile(r"[A-Za-z_]\w*")

_TYPES = frozenset({"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool"})
_QUALIFIERS = frozenset({"const", "volatile", "restrict"})
"""Words that may stand between a type and the declared name."""

_WORDS = _TYPES | _QUALIFIERS | {"static", "inline", "extern", "struct", "union", "enum", "typedef", "sizeof", "return"}
_WORDS |= {"if", "else", "for", "switch", "case", "default", "break", "continue"}
_DECLARING = "MG_DECLARE_"
"""Prefix of macros that declare the function named by their argument, and functions whose names begin with that."""

_DECLARED_TOO = re.compile(r"\bMG_PART\(\w+, (\w+)\)|(\bMG_DECLARE_\w+)")


@dataclass(frozen=True)
class _Names:
    """Names that a text declares outside of functions: all names, names of types, and the members of each type.

    macros: name -> replacement. includes: names of the headers that the text includes.
    """

    all: frozenset[str]
    types: frozenset[str]
    members: Mapping[str, frozenset[str]]
    macros: Mapping[str, str]
    includes: list[str]


def require_declared(files: Mapping[str, bytes], checked: Iterable[str]) -> None:
    """Raise InternalError for an undeclared name in one of the `checked` files. files: all files of a build, by
    path.
    """
    for path in checked:
        text = _HIDDEN.sub(lambda hidden: "\n" * hidden[0].count("\n"), files[path].decode())
        if text.isspace():  # a kernel's copy has only macros and an include of its template
            continue
        for line, name in _Reader(text, _seen(path, files)).undeclared():
            message = f"the C made for this model uses {name}, which nothing declares"
            raise InternalError(message, where=f"{path}:{line}")


def _seen(path: str, files: Mapping[str, bytes]) -> list[_Names]:
    """Names from all headers that a file includes, directly or not, and the file's own macros. If the file is a header,
    all its own names count.
    """
    source = files[path].decode()
    macros = dict(_MACRO.findall(source))
    own = _Names(frozenset(macros), frozenset(), {}, macros, _INCLUDE.findall(source))
    found = {path: _declared(source) if path.endswith(".h") else own}
    waiting = list(found[path].includes)
    while waiting:
        header = waiting.pop()
        if header not in found:
            found[header] = _declared(files[header].decode() if header in files else _standard(header))
            waiting += found[header].includes
    return list(found.values())


@functools.cache
def _standard(header: str) -> str:
    """Text of the stub for a standard header, with only what a build may use. Empty for other headers."""
    path = stubs() / header
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@functools.lru_cache(512)
def _declared(text: str) -> _Names:
    """Names that a header declares, in all branches of its conditions."""
    members: dict[str, frozenset[str]] = {}

    def one_member(match: re.Match[str]) -> str:
        body, name = match.groups()
        members[name] = _members(body)
        return f"int {name}" if name else body

    macros = dict(_MACRO.findall(text))
    plain = _LINKAGE.sub(" ", _HIDDEN.sub(" ", text))
    constants = [name for body in _ENUM.findall(plain) for name in _WORD.findall(body)]
    while (shorter := _STRUCT.sub(one_member, plain)) != plain:
        plain = shorter
    while (shorter := _INNER.sub(" ", plain)) != plain:
        plain = shorter
    words = frozenset((*macros, *_WORD.findall(plain), *constants))
    return _Names(words, frozenset(_TYPEDEF.findall(plain)), members, macros, _INCLUDE.findall(text))


def _members(body: str) -> frozenset[str]:
    """Members between the braces of a type, and macros there that may stand for several members."""
    return frozenset(name for pair in _MEMBER.findall(_POINTER.sub(r"\1", body)) for name in pair)


class _Reader:
    """Reads the tokens of a source, and records the names that each open block declares."""

    def __init__(self, text: str, seen: Sequence[_Names]) -> None:
        """text: without comments, strings and directives. seen: declarations before it."""
        self._text = text
        self._outer = _WORDS.union(*(names.all for names in seen))
        self._types = _TYPES.union(*(names.types for names in seen))
        self._macros = {macro: body for names in seen for macro, body in names.macros.items()}
        self._members = {name: members for names in seen for name, members in names.members.items()}
        self._expanded: dict[str, frozenset[str]] = {}
        self._scopes = [set[str]()]
        self._of_next_block = set[str]()
        self._brackets = 0
        self._type = self._initialized = ""
        self._declared_at: tuple[int, int] | None = None
        self._names_follow = False

    def undeclared(self) -> Iterator[tuple[int, str]]:
        """(line, name) of each undeclared name."""
        line, before, last = 1, "", ""
        for token in _TOKEN.findall(self._text):
            if token == "\n":
                line += 1
                continue
            if not token.isidentifier():
                self._sign(token)
            elif last == "." or last == "->":
                if token not in self._fields(is_initial=last == "." and before in ("{", ",")):
                    yield line, token
            elif last == "(" and before.startswith(_DECLARING):
                self._scopes[0].update(token + ending for ending in self._endings(before))
            elif not self._is_known(token, last):
                yield line, token
            before, last = last, token

    def _sign(self, token: str) -> None:
        """Process punctuation. A bracket opens or closes a scope; a comma continues a declaration."""
        if token == "*":
            return
        self._names_follow = token == "," and self._declared_at == (len(self._scopes), self._brackets)
        if token == "(":
            self._brackets += 1
        elif token == ")":
            self._brackets -= 1
        elif token == "{":
            self._scopes.append(self._of_next_block)
            self._of_next_block = set()
        elif token == "}":
            self._scopes.pop()
        elif token == "=" and self._declared_at and not self._brackets:
            self._initialized = self._type
        elif token == ";":
            self._declared_at, self._initialized = None, ""
            if not self._brackets:
                self._of_next_block = set()

    def _endings(self, macro: str) -> Iterator[str]:
        """Suffixes of the names that a macro declares for a function, including the empty suffix."""
        yield ""
        for part, other in _DECLARED_TOO.findall(self._macros.get(macro, "")):
            yield from self._endings(other) if other else [f"_{part}"]

    def _is_known(self, word: str, last: str) -> bool:
        """Whether a word that is not a member is declared. A word after a type is thereby declared in its block."""
        if word in self._types or last in ("struct", "union", "enum"):
            self._type, self._names_follow = word, True
        elif self._names_follow and word not in _QUALIFIERS:
            (self._of_next_block if self._brackets else self._scopes[-1]).add(word)
            self._declared_at, self._names_follow = (len(self._scopes), self._brackets), False
        elif word not in self._outer and word not in self._of_next_block:
            return any(word in scope for scope in reversed(self._scopes))
        return True

    def _fields(self, *, is_initial: bool) -> frozenset[str]:
        """Members that may be named here: those of the initialized type in an initializer, otherwise those of
        any type.
        """
        if is_initial and self._initialized in self._members:
            return self._all_of(self._initialized)
        return self._any

    @functools.cached_property
    def _any(self) -> frozenset[str]:
        return frozenset[str]().union(*map(self._all_of, self._members))

    def _all_of(self, kind: str) -> frozenset[str]:
        """Members of a type, including members that macros stand for."""
        if kind not in self._expanded:
            found, waiting = set[str](), list(self._members[kind])
            while waiting:
                name = waiting.pop()
                if name in self._macros and name not in found:
                    waiting += _members(self._macros[name])
                found.add(name)
            self._expanded[kind] = frozenset(found)
        return self._expanded[kind]
