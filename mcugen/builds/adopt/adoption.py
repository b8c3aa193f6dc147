"""The switch of a firmware's folder to compiled models: the patch, applied and taken back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mcugen.builds.adopt.build_files import MARK, Edits, ModelCode
from mcugen.builds.adopt.cpp_facts import ModelArray
from mcugen.builds.adopt.patch_text import LineEdit, PatchedFile, apply, edited, is_applied, lines_of, text_of, undo
from mcugen.builds.adopt.programs import FirmwareProgram, code_of, programs_of
from mcugen.builds.adopt.tree import FirmwareTree, read_tree
from mcugen.errors import UnsupportedError, UsageError
from mcugen.options import Options
from mcugen.system import files

_MOST_BYTES = 1 << 30
_IDLE = b"#define MCUGEN_TFLM_IGNORE_CUSTOM /* no model calls the kernels of the application */\n"
_FRONTEND = re.compile(rb"#\s*include\s*[<\"][^>\"]*microfrontend/")


@dataclass(frozen=True)
class AdoptedProgram:
    """A program that the patch switches to compiled models.

    code: the C of its models; place: the folder of this C; changed: paths of its files that the patch changes
    lines: what the user must add to the build, if it is of no known build system
    """

    program: FirmwareProgram
    code: ModelCode
    place: str
    changed: tuple[str, ...]
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adoption:
    """The switch of a folder to compiled models: programs switched, programs left as they are, files of the patch."""

    tree: FirmwareTree
    adopted: tuple[AdoptedProgram, ...]
    refused: tuple[FirmwareProgram, ...]
    patched: tuple[PatchedFile, ...]

    @property
    def patch(self) -> bytes:
        return text_of(self.patched)

    def write(self) -> None:
        """Apply the patch: all of it or nothing. Raises UsageError."""
        apply(self.tree.root, self.patched)


def patch_path(folder: Path) -> Path:
    """Path of the patch, a file beside the folder. Raises UsageError for the root of the file system."""
    folder = folder.resolve()
    if folder == folder.parent:
        raise UsageError(
            f"{str(folder)!r} is the root of the file system; the patch is written beside the folder",
            hint="give the folder of the firmware's sources",
        )
    return folder.with_name(f"{folder.name}.patch")


def adopt(folder: Path, options: Options) -> Adoption:
    """Plan the switch of a folder of firmware. The folder is only read.

    options: for the builds of its models. Raises UsageError; UnsupportedError, with every reason, if no program can be
    switched.
    """
    tree = read_tree(folder)
    _require_not_applied(folder, tree)
    programs = programs_of(tree, options)
    adopted, edits, new = list[AdoptedProgram](), Edits(), dict[str, bytes]()
    for program in programs:
        if program.models and not program.refusals:
            adopted.append(_switched(program, tree, edits, new))
    refused = tuple(program for program in programs if program.refusals or not program.models)
    if not adopted:
        listed = "\n".join(f"  {reason}" for program in refused for reason in program.refusals)
        raise UnsupportedError(
            f"no program can be switched\n{listed}", where=str(folder), hint="docs/tflm.md says what is replaced"
        )
    patched = [PatchedFile(tree.of_root(path), None, content) for path, content in sorted(new.items())]
    patched += [_edited(tree, path, edits[path]) for path in sorted(edits)]
    return Adoption(tree, tuple(adopted), refused, tuple(patched))


def take_back(folder: Path) -> list[str]:
    """Undo the patch beside a folder, and remove it. Returns the paths of the files restored. Raises UsageError."""
    path, tree = patch_path(folder), read_tree(folder)
    changed = undo(tree.root, files.read(path, _MOST_BYTES), path.name)
    path.unlink()
    return changed


def _require_not_applied(folder: Path, tree: FirmwareTree) -> None:
    """Raise UsageError if the patch beside the folder is applied, or is not a patch of `mcugen adopt`."""
    path = patch_path(folder)
    if path.exists() and is_applied(tree.root, files.read(path, _MOST_BYTES), path.name):
        raise UsageError(
            f"{path.name} is already applied to this folder", hint="undo it with --undo, then run this again"
        )


def _edited(tree: FirmwareTree, path: str, edits: Sequence[LineEdit]) -> PatchedFile:
    if path not in tree.known:
        return PatchedFile(tree.of_root(path), None, b"".join(line + b"\n" for edit in edits for line in edit.new))
    mode = "100755" if (tree.folder / path).stat().st_mode & 0o100 else "100644"
    return edited(tree.of_root(path), tree.read(path), edits, mode)


def _switched(program: FirmwareProgram, tree: FirmwareTree, edits: Edits, new: dict[str, bytes]) -> AdoptedProgram:
    """The switch of a program. Its edits are added to `edits`, its new files to `new` (path -> content)."""
    folders = {getattr(system, "FOLDER", "mcugen") for system in program.systems.values()} or {"mcugen"}
    files_of_code = {path: content for model in program.models for path, content in code_of(model)}
    c, cpp = (tuple(path for path in files_of_code if path.endswith(suffix)) for suffix in (".c", ".cc"))
    embedded = tuple(PurePosixPath(model.file).name for model in program.models if model.embedded)
    code = ModelCode(min(folders), c, cpp, _has_frontend(program, tree), embedded)
    place = f"{program.folder}{code.folder}"
    if any(path.startswith(f"{place}/") for path in tree.paths):
        raise UsageError(f"the folder {place} exists already", where=str(tree.folder), hint="move it away")
    files_of_code |= _missing_headers(program, tree)
    if program.idle_kernels:
        files_of_code["mcugen_tflm_ops.h"] = _IDLE + files_of_code["mcugen_tflm_ops.h"]
    own: Edits = {}
    for system in program.systems.values():
        files_of_code = getattr(system, "adapted", dict)(files_of_code)
        for path, listed in system.lines(tree, program.folder, [f.file for f in program.sources], code).items():
            own.setdefault(path, []).extend(listed)
    for model in program.models:
        for array in model.arrays:
            own.setdefault(array.file, []).extend(_without(array, tree.read(array.file), f"{place}/{model.name}.c"))
    for path, listed in own.items():
        edits.setdefault(path, []).extend(edit for edit in listed if edit not in edits.get(path, ()))
    new |= {f"{place}/{path}": content for path, content in files_of_code.items()}
    lines = () if program.systems else tuple(f"compile {path}" for path in code.paths(program.folder))
    lines += () if program.systems else (f"with -I{place} before the folders of TensorFlow Lite Micro",)
    return AdoptedProgram(program, code, place, tuple(sorted(own)), lines)


def _has_frontend(program: FirmwareProgram, tree: FirmwareTree) -> bool:
    """Whether the program uses microfrontend, the library of audio features that comes with the interpreter."""
    beside = (path for path in tree.sources() if path.startswith(program.folder))
    return any(_FRONTEND.search(tree.read(path)) for path in beside)


def _missing_headers(program: FirmwareProgram, tree: FirmwareTree) -> Mapping[str, bytes]:
    """Name -> text of headers that the program includes, and that its build used to generate from a .tflite file."""
    made, known = dict[str, bytes](), {PurePosixPath(path).name for path in tree.paths}
    for model in program.models:
        stem = PurePosixPath(model.file).stem
        for facts in program.sources if model.file else ():
            for name in re.findall(r'#\s*include\s*"([^"]+)"', tree.text(facts.file)):
                if stem in PurePosixPath(name).stem and PurePosixPath(name).name not in known:
                    size = len(model.data)
                    text = f"#pragma once\nextern const unsigned char {model.symbol}[{size}];\n"
                    text += f"static const unsigned int {model.symbol}_size = {size}u, {model.symbol}_len = {size}u;\n"
                    made[name] = text.encode()
    return made


def _without(array: ModelArray, source: bytes, compiled: str) -> list[LineEdit]:
    """Edits that exclude the array of a model from compilation, and declare its name for the compiled model."""
    first, last = source.count(b"\n", 0, array.start), source.count(b"\n", 0, array.end - 1)
    lines = lines_of(source)
    before = source[source.rfind(b"\n", 0, array.start) + 1 : array.start]
    end = source.find(b"\n", array.end)
    after = source[array.end : len(source) if end < 0 else end].rstrip(b"\r")
    note = f"// {MARK}: {compiled} has this model, and its flatbuffer of {len(array.data):,} bytes stays out."
    declared = [f"extern {array.element} {array.name}[{len(array.data)}];"]
    if "" in array.space:  # a name without a namespace is seen from it
        declared = ["} // namespace", *declared, "namespace {"]
    head = [line.encode() for line in (note, *declared, "#if 0")]
    if not before.strip() and re.fullmatch(rb"\s*(//[^\n]*|/\*[^\n]*\*/\s*)?", after):
        return [LineEdit(first, 0, tuple(head)), LineEdit(last + 1, 0, (b"#endif",))]
    kept = [before.rstrip()] if before.strip() else []
    begin = source.rfind(b"\n", 0, array.start) + 1
    if first == last:
        return [LineEdit(first, 1, (*kept, *head, source[array.start : array.end], b"#endif", after.lstrip()))]
    top = lines[first][array.start - begin :]
    bottom = lines[last][: array.end - source.rfind(b"\n", 0, array.end) - 1]
    ending = [bottom, b"#endif", *([after.lstrip()] if after.strip() else [])]
    return [LineEdit(first, 1, (*kept, *head, top)), LineEdit(last, 1, tuple(ending))]
