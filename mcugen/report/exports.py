"""Files that a build writes besides the C: report pages, and the exports that the user chooses.

A page is a module of `mcugen.report.pages`. An export is a folder `templates/exports/<name>/` with an `export.toml`, or
an entry point of an installed package in the group `mcugen.exports`. The entry point names a package that contains such
a folder's files, or a module with a function `files`, as a page has. Exports are found, not listed.

Keys of export.toml:
* `title`: one line about the export
* `[files]`: output path = template. Both are jinja2 text with the variables `name`, `version`, `sources`,
  `cpp_sources`, `headers`, `include`, `tested`, `libraries`, `models` (views) and `facts`; see `mcugen.report.output`.
  A template also has `path`, that of its output
* `with`, optional: names of exports that it builds on, which are also written
* `code`, optional: folder of the output for the C
* `alone = true`: the files are about one model only
* `whole = true`: the files need whole inputs, rows or frames, so they do not fit a stream of samples
* `packed = true`: the output folder is passed on as a whole, so it may contain no other file
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from mcugen import __version__
from mcugen.emit import environment, libraries_of, sources_of
from mcugen.emit.output_layout import BuildFolders
from mcugen.errors import UsageError
from mcugen.options import Options
from mcugen.report import pages
from mcugen.report.output import Content, Output, ReportedModel
from mcugen.system import plugins, resources, toml_file
from mcugen.system.output_folder import REPORT, is_inside, sums_of
from mcugen.system.toml_file import TomlTable

GROUP = "mcugen.exports"
MANIFEST = "export.toml"
NONE = "none"
"""Name for `--export` that switches exports off."""


@dataclass(frozen=True)
class Export:
    """An exporter. files(output) gives, per file name, a function for the file's content.

    code: folder of the output that the C must be in; "" for any. builds_on: exports that are also written. alone:
    whether it is only for builds of one model. packed: whether all files must be in the output folder. whole: whether
    its files need whole inputs, rows or frames.
    """

    name: str
    files: Callable[[Output], Mapping[str, Content]]
    code: str = ""
    builds_on: tuple[str, ...] = ()
    alone: bool = False
    packed: bool = False
    whole: bool = False


def names() -> tuple[str, ...]:
    """Names of all exports, sorted."""
    return tuple(sorted({*_own(), *plugins.installed(GROUP)}))


def layout_of(options: Options) -> BuildFolders:
    """Layout of the C for the exports chosen. Raises UsageError if they need different layouts."""
    chosen = _chosen(options.export)
    wanted = {export.code: export.name for export in chosen if export.code}
    packed = next((export.name for export in chosen if export.packed), None)
    if packed and options.kernels_dir:
        raise UsageError(
            f"--export {packed} packs the output folder, but --kernels-dir puts kernels outside it",
            hint="leave one of them out; --amalgamate also lets several models share a project",
        )
    if len(wanted) > 1 or (wanted and options.kernels_dir):
        first, *more = (f"--export {name}" for name in wanted.values())
        raise UsageError(
            f"{first} and {more[0] if more else '--kernels-dir'} need the kernels in different folders",
            hint="build once for each, into separate folders",
        )
    return BuildFolders(next(iter(wanted), ""), options.kernels_dir)


def _chosen(names: Collection[str]) -> list[Export]:
    """The exports of these names. Exports that they build on come first."""
    found: dict[str, Export] = {}
    for name in dict.fromkeys(names):
        if name != NONE and name not in found:
            export = _load(name)
            found |= {base.name: base for base in _chosen(export.builds_on)} | {name: export}
    return list(found.values())


@dataclass(frozen=True)
class ExportFiles:
    """Files of the output folder, and of the shared kernel folder, by path relative to each.

    sums: hashes of the files that a user may edit. Pages are left out, since later commands rewrite them.
    """

    files: Mapping[str, bytes]
    kernels: Mapping[str, bytes]
    sums: tuple[str, ...]


def folder(
    name: str,
    models: Sequence[ReportedModel],
    emitted: Mapping[str, bytes],
    facts: Mapping[str, Any],
    options: Options,
    layout: BuildFolders,
) -> ExportFiles:
    """The C of the models in its layout, with pages and the exports chosen."""
    own, kernels = layout.split(emitted)
    public = {f"{name}.h", *(part for m in models for part in (f"{m.view.name}.h", m.view.interface))}
    output = Output(
        name,
        tuple(models),
        tuple(sorted(layout.paths(sources_of(emitted)))),
        tuple(libraries_of(emitted)),
        facts,
        tuple(sorted(layout.paths(public & emitted.keys()))),
        layout.include,
        frozenset(m.view.name for m in models if f"{m.view.name}_selftest.c" in emitted),
    )
    made, sums = written(output, options.export, own, report=not options.no_report)
    return ExportFiles(own | made, kernels, sums)


def written(
    output: Output, chosen: Collection[str], emitted: Mapping[str, bytes], *, report: bool = True
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Path -> content of pages and chosen exports; and hashes of all files but pages.

    emitted: the other files of the build. report: whether to write the optional pages. Raises UsageError for an export
    that does not exist, that fails at import, or that writes a file that exists or lies outside the folder.
    """
    shown = contents(_pages(report), output, emitted)
    exported = contents(_chosen(chosen), output, {*emitted, *shown})
    listed = sorted((*emitted, *shown, *exported), key=lambda path: (path == REPORT, path))
    complete = replace(output, facts={**output.facts, "files": listed})
    files = {path: content(complete) for path, content in exported.items()}
    sums = sums_of({**emitted, **files})
    complete = replace(complete, facts={**complete.facts, "sums": sums})
    return files | {path: content(complete) for path, content in shown.items()}, sums


def contents(exports: Sequence[Export], output: Output, emitted: Collection[str]) -> dict[str, Content]:
    """Path -> function that gives the content, for the files of all exports.

    Raises UsageError for a path that exists or lies outside the folder, for an `alone` export of several models, and
    for an export of whole inputs if the model takes a stream of samples.
    """
    made: dict[str, Content] = {}
    for export in exports:
        if export.alone and len(output.models) > 1:
            raise UsageError(
                f"export {export.name!r} is for one model, but {len(output.models)} share this folder",
                hint=f"build the model with --export {export.name} into a folder of its own",
            )
        if export.whole and any(model.view.samples for model in output.models):
            raise UsageError(
                f"export {export.name!r} is for models with whole inputs, but this one takes a stream of samples",
                hint=f"call {output.models[0].view.name}_push from code of your own: build with --export none",
            )
        for path, content in export.files(output).items():
            if not is_inside(path) or path in emitted or path in made:
                raise UsageError(
                    f"export {export.name!r} writes {path!r}, which exists already or lies outside the folder",
                    hint=f"leave --export {export.name} out",
                )
            made[path] = content
    return made


def _pages(report: bool) -> Sequence[Export]:
    names = sorted(module.name for module in pkgutil.iter_modules(pages.__path__))
    modules = {name: importlib.import_module(f"{pages.__name__}.{name}") for name in names}
    chosen = {name: m for name, m in modules.items() if report or not getattr(m, "OPTIONAL", False)}
    return [Export(name, module.files) for name, module in chosen.items()]


def _own() -> dict[str, Path]:
    return {path.parent.name: path.parent for path in (resources.templates() / "exports").glob(f"*/{MANIFEST}")}


def _load(name: str) -> Export:
    own, installed = _own(), plugins.installed(GROUP)
    if name in own:
        return _of_folder(name, own[name])
    if name not in installed:
        close = difflib.get_close_matches(name, names(), n=1)
        meant = f"did you mean {close[0]}? " if close else ""
        raise UsageError(f"no export named {name!r}", where="--export", hint=f"{meant}known: {', '.join(names())}")
    module = plugins.load(installed[name])
    if callable(getattr(module, "files", None)):
        return Export(name, module.files)
    folder = _folder_of(module)
    if folder is None:
        raise UsageError(
            f"export {name!r} has neither a function `files` nor an {MANIFEST}",
            where=f"{GROUP}: {installed[name].value}",
            hint="see mcugen/report/exports.py",
        )
    return _of_folder(name, folder)


def _folder_of(module: ModuleType) -> Path | None:
    """The folder of a package that contains a manifest, or None."""
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    return next((folder for folder in folders if (folder / MANIFEST).is_file()), None)


def _of_folder(name: str, folder: Path) -> Export:
    manifest = toml_file.read(folder / MANIFEST, "mcugen/report/exports.py explains every key")
    manifest.string("title")
    table = manifest.table("files")
    code = manifest.identifier("code") if manifest.has("code") else ""
    builds_on = manifest.strings("with") if manifest.has("with") else ()
    flags = [manifest.has(key) and manifest.boolean(key) for key in ("alone", "packed", "whole")]
    manifest.refuse_unread()
    return Export(name, partial(_rendered, folder, table), code, builds_on, *flags)


def _rendered(folder: Path, table: TomlTable, output: Output) -> dict[str, Content]:
    values = _values(output)
    templates = {environment.text(path, **values): _template(folder, table, path) for path in table.names()}
    return {path: partial(_content, template, path) for path, template in templates.items()}


def _template(folder: Path, table: TomlTable, path: str) -> Path:
    template = folder / table.string(path)
    if not template.is_file():
        raise table.error(path, template.name, f"a template in {folder.name}/")
    return template


def _content(template: Path, path: str, output: Output) -> bytes:
    return environment.text(template.read_text(encoding="utf-8"), path=path, **_values(output)).encode()


def _values(output: Output) -> dict[str, Any]:
    return {
        "name": output.name,
        "version": __version__,
        "sources": output.sources,
        "cpp_sources": output.cpp_sources,
        "headers": output.headers,
        "include": output.include,
        "code": "" if output.include[0] == "." else f"{output.include[0]}/",
        "tested": output.tested,
        "libraries": output.libraries,
        "models": [model.view for model in output.models],
        "facts": output.facts,
    }
