"""Patches in git's format: written from edits of lines, applied as a whole or not at all, and undone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcugen.errors import UsageError
from mcugen.system.output_folder import is_inside

TITLE = b"mcugen adopt: compiled models in the place of TensorFlow Lite Micro's interpreter\n\n"
_CONTEXT = 3
_NONE = "0" * 40
_HEADS = re.compile(
    rb"^diff --git [^\n]*\n(?:new file mode \d+\n)?index ([0-9a-f]{40})\.\.([0-9a-f]{40})[^\n]*\n"
    rb"--- [^\n]*\n\+\+\+ ([^\n]*)\n",
    re.MULTILINE,
)
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@[^\n]*\n", re.MULTILINE)
_UNENDED = b"\\ No newline at end of file\n"


@dataclass(frozen=True)
class LineEdit:
    """Replace `count` lines, from index `first` on, by the lines `new`."""

    first: int
    count: int
    new: tuple[bytes, ...]


@dataclass(frozen=True)
class PatchedFile:
    """A file of a patch. path: in the repository.

    before, after: content before and after the patch; `before` is None for a new file. mode: file mode as git writes it
    """

    path: str
    before: bytes | None
    after: bytes
    edits: tuple[LineEdit, ...] = ()
    mode: str = "100644"


def lines_of(text: bytes) -> list[bytes]:
    """The lines of a text, each with its line end. The last line may have no line end."""
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


def edited(path: str, before: bytes, edits: Sequence[LineEdit], mode: str = "100644") -> PatchedFile:
    """A file with edits. Edits must not overlap; edits at the same line are applied in the order given."""
    lines, after, at = lines_of(before), list[bytes](), 0
    end = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    ordered = sorted(edits, key=lambda edit: edit.first)
    settled = []
    for edit in ordered:
        new = tuple(line.rstrip(b"\r\n") + end for line in edit.new)
        if edit.first == len(lines) and lines and not lines[-1].endswith(b"\n") and not edit.count:
            edit = LineEdit(edit.first - 1, 1, (lines[-1] + end, *new))
        else:
            edit = LineEdit(edit.first, edit.count, new)
        assert edit.first >= at, "edits of a file overlap"
        after += [*lines[at : edit.first], *edit.new]
        at = edit.first + edit.count
        settled.append(edit)
    return PatchedFile(path, before, b"".join([*after, *lines[at:]]), tuple(settled), mode)


def text_of(patched: Sequence[PatchedFile]) -> bytes:
    """The text of a patch of these files."""
    return TITLE + b"".join(piece for file in patched for piece in _pieces(file))


def _pieces(file: PatchedFile) -> Iterator[bytes]:
    name = file.path
    yield b"diff --git %s %s\n" % (_quoted(f"a/{name}"), _quoted(f"b/{name}"))
    if file.before is None:
        yield f"new file mode {file.mode}\nindex {_NONE}..{_sum(file.after)}\n--- /dev/null\n".encode()
        yield b"+++ %s\n" % _named(f"b/{name}")
        lines = lines_of(file.after)
        yield f"@@ -0,0 +1,{len(lines)} @@\n".encode()
        yield from (_line(b"+", line) for line in lines)
        return
    yield f"index {_sum(file.before)}..{_sum(file.after)} {file.mode}\n".encode()
    yield b"--- %s\n+++ %s\n" % (_named(f"a/{name}"), _named(f"b/{name}"))
    lines, shift = lines_of(file.before), 0
    for group in _groups(file.edits):
        first = max(group[0].first - _CONTEXT, 0)
        last = min(group[-1].first + group[-1].count + _CONTEXT, len(lines))
        body, at = list[bytes](), first
        for edit in group:
            body += [_line(b" ", line) for line in lines[at : edit.first]]
            at = edit.first + edit.count
            body += [_line(b"-", line) for line in lines[edit.first : at]]
            body += [_line(b"+", line) for line in edit.new]
        body += [_line(b" ", line) for line in lines[at:last]]
        grown = sum(len(edit.new) - edit.count for edit in group)
        old, new = last - first, last - first + grown
        yield f"@@ -{first + bool(old)},{old} +{first + shift + bool(new)},{new} @@\n".encode()
        yield from body
        shift += grown


def _groups(edits: Sequence[LineEdit]) -> Iterator[list[LineEdit]]:
    """Groups of edits that form one hunk, since their context lines meet."""
    group: list[LineEdit] = []
    for edit in edits:
        if group and edit.first - (group[-1].first + group[-1].count) > 2 * _CONTEXT:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n" + _UNENDED


def _sum(content: bytes) -> str:
    """The hash by which git names a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _quoted(name: str) -> bytes:
    data = os.fsencode(name)
    if not re.search(rb'["\\\x00-\x1f\x7f-\xff]', data):
        return data
    return b'"%s"' % re.sub(rb'["\\\x00-\x1f\x7f-\xff]', lambda at: b"\\%03o" % at[0][0], data)


def _named(name: str) -> bytes:
    """A file name as git writes it at the end of a line: a tab follows a name that contains spaces."""
    quoted = _quoted(name)
    return quoted + b"\t" if b" " in quoted and not quoted.startswith(b'"') else quoted


def _unquoted(name: bytes) -> str:
    name = name.rstrip(b"\t\r")
    if name.startswith(b'"'):
        name = re.sub(rb"\\([0-7]{3})", lambda at: bytes([int(at[1], 8)]), name[1:-1])
    return os.fsdecode(name)


def apply(root: Path, patched: Sequence[PatchedFile]) -> None:
    """Write the files of a patch, all or none. Raises UsageError if a file changed since the patch was made."""
    for file in patched:
        before = _content(root / file.path)
        if before != file.before:
            what = "changed since it was read" if file.before is not None else "exists already"
            raise UsageError(f"{file.path} {what}", where=str(root), hint="run the command again")
    _replace(root, {file.path: file.after for file in patched})


def undo(root: Path, patch: bytes, name: str) -> list[str]:
    """Undo the changes of a patch. Returns the paths of its files.

    Raises UsageError if the text is not a patch of this command, or if a file changed after the patch was applied.
    """
    before: dict[str, bytes | None] = {}
    for path, old, new, hunks in _parsed(patch, name):
        after = _content(root / path)
        if after is None or _sum(after) != new:
            changed = "is gone" if after is None else "is not as the patch left it"
            raise UsageError(
                f"{path} {changed}; nothing was undone",
                where=name,
                hint=f"undo it by hand: git apply --reverse {name}",
            )
        before[path] = None if old == _NONE else _reversed(after, hunks)
        content = before[path]
        if content is not None and _sum(content) != old:
            raise UsageError(f"the patch of {path} was edited", where=name, hint="use the patch that the command wrote")
    _replace(root, before)
    return list(before)


def is_applied(root: Path, patch: bytes, name: str) -> bool:
    """Whether any file has the content that the patch gives it."""
    parts = list(_parsed(patch, name))
    contents = ((_content(root / path), new) for path, _, new, _ in parts)
    return any(content is not None and _sum(content) == new for content, new in contents)


def _parsed(patch: bytes, name: str) -> Iterator[tuple[str, str, str, bytes]]:
    """(path, hash before, hash after, hunks) of each file. Raises UsageError if the text is not a patch of this
    command.
    """
    heads = list(_HEADS.finditer(patch))
    if not patch.startswith(TITLE) or not heads:
        raise UsageError(
            "this is not a patch of `mcugen adopt`", where=name, hint="move it away, or name the right folder"
        )
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        path = _unquoted(head[3]).removeprefix("b/")
        if not is_inside(path):
            raise UsageError(
                f"{path} is outside of the folder", where=name, hint="use the patch that the command wrote"
            )
        end = after.start() if after else len(patch)
        yield path, head[1].decode(), head[2].decode(), patch[head.end() : end]


def _reversed(after: bytes, hunks: bytes) -> bytes:
    """The content before these hunks were applied."""
    lines, out, at = lines_of(after), list[bytes](), 0
    heads = list(_HUNK.finditer(hunks))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        count = int(head[4] or 1)
        first = int(head[3]) - bool(count)
        out += lines[at:first]
        at = first + count
        body = lines_of(hunks[head.end() : following.start() if following else len(hunks)])
        for k, line in enumerate(body):
            if line[:1] in (b" ", b"-"):
                unended = k + 1 < len(body) and body[k + 1] == _UNENDED
                out.append(line[1:-1] if unended else line[1:])
    return b"".join([*out, *lines[at:]])


def _content(path: Path) -> bytes | None:
    """The bytes of a regular file; None if it does not exist. Raises UsageError if it cannot be read."""
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise UsageError(f"{str(path)!r} is not a regular file", hint="move it away")
        return path.read_bytes() if path.exists() else None
    except OSError as error:
        raise UsageError(f"cannot read {str(path)!r}: {error.strerror}", hint="check its permissions") from error


def _replace(root: Path, contents: Mapping[str, bytes | None]) -> None:
    """Write files, or remove them if None. Raises UsageError, before any change, if a file cannot be written."""
    staged: dict[Path, Path] = {}
    folders: list[Path] = []
    try:
        for name, content in contents.items():
            path = root / name
            if content is None:
                continue
            folders += [parent for parent in reversed(path.parents) if not parent.exists()]
            path.parent.mkdir(parents=True, exist_ok=True)
            staged[path] = path.with_name(f".{path.name}.{os.getpid()}")
            staged[path].write_bytes(content)
            if path.exists():
                staged[path].chmod(path.stat().st_mode)
    except OSError as error:
        for part in staged.values():
            part.unlink(missing_ok=True)
        for folder in reversed(folders):
            with contextlib.suppress(OSError):
                folder.rmdir()
        reason = f"cannot write into {str(root)!r}: {error.strerror}"
        raise UsageError(reason, hint="check the permissions; nothing was changed") from error
    for path, part in staged.items():
        os.replace(part, path)
    for name in (name for name, content in contents.items() if content is None):
        (root / name).unlink(missing_ok=True)
        for parent in (root / name).parents:
            if parent == root or any(parent.iterdir()):
                break
            parent.rmdir()
