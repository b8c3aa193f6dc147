"""Tokens of C and C++ as far as declarations need them: comments, strings, raw strings, preprocessor lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    rb"""
    (?P<comment>//(?:[^\n\\]|\\.)*|/\*.*?(?:\*/|\Z))
    |(?P<raw>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?(?:\)(?P=fence)"|\Z))
    |(?P<text>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)
    |(?P<directive>^[\ \t]*\#(?:/\*.*?(?:\*/|\Z)|//[^\n]*|\\.|[^\n\\/]|/)*)
    |(?P<number>\.?[0-9](?:[eEpP][+-]|'(?=\w)|[\w.])*)
    |(?P<word>[A-Za-z_$][\w$]*)
    |(?P<mark>::|->|\S)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_NUMBERS = re.compile(rb"[0-9a-fA-FxXuU,\s]*")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LEAST = 64
"""A list of numbers with more characters than this becomes one token."""


class Token(NamedTuple):
    """A token: bytes `start` to `end` of the source.

    kind: directive, text, number, word or mark; for a long list of numbers in braces: numbers, unclosed (the file ends
    within the list) or conditional (with preprocessor lines in it)
    """

    kind: str
    start: int
    end: int


def tokens(source: bytes) -> Iterator[Token]:
    """The tokens of a source, without comments. A long list of numbers in braces is a single token."""
    at = 0
    while (match := _TOKEN.search(source, at)) is not None:
        kind, at = str(match.lastgroup), match.end()
        if match[0] == b"{" and (content := _content(source, match.start())) is not None:
            at = content.end
            yield content
        elif kind != "comment":
            yield Token("text" if kind in ("raw", "fence") else kind, match.start(), at)


def _content(source: bytes, start: int) -> Token | None:
    """The long list of numbers that a brace at `start` opens; None for a short list or anything else."""
    at, has_lines = start + 1, False
    while True:
        at = _match_end(_NUMBERS, source, at)
        if source[at : at + 1] == b"#" and at - start > _LEAST:
            has_lines = True
            at = _line_end(source, at)
        elif comment := _COMMENT.match(source, at):
            at = comment.end()
        else:
            break
    if at >= len(source):
        return Token("unclosed", start, len(source)) if at - start > _LEAST else None
    if source[at : at + 1] != b"}" or at - start <= _LEAST:
        return None
    return Token("conditional" if has_lines else "numbers", start, at + 1)


def _match_end(pattern: re.Pattern[bytes], source: bytes, at: int) -> int:
    match = pattern.match(source, at)
    return match.end() if match else at


def _line_end(source: bytes, at: int) -> int:
    end = source.find(b"\n", at)
    return len(source) if end < 0 else end
