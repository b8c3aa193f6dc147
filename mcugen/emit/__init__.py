"""Emission: turns a planned schedule into the files of a standalone C model, as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mcugen.emit import blob, opencl, selftest, tflm
from mcugen.emit.environment import render
from mcugen.emit.output_layout import EXAMPLE, EXAMPLES, PLAIN, BuildFolders
from mcugen.emit.resolution import require_declared
from mcugen.emit.view import ModelView, build
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.solve.plan import MemoryPlan
from mcugen.solve.schedule import Schedule
from mcugen.solve.weights import ALL_WITH_CODE, WeightRegions

__all__ = ["EXAMPLE", "emit", "files_of", "libraries_of", "sources_of"]


def sources_of(files: Iterable[str]) -> list[str]:
    """The C files of a build that make up the model, sorted, without the examples."""
    return [path for path in sorted(files) if path.endswith(".c") and not path.startswith(EXAMPLES)]


def libraries_of(files: Mapping[str, bytes]) -> list[str]:
    """Libraries to link, by the names that the linker's -l takes: `m` if a kernel includes math.h, and OpenCL for a
    device.
    """
    found = ["m"] if any(b"#include <math.h>" in text for text in files.values()) else []
    return [*(["OpenCL"] if any(map(opencl.is_host, files)) else []), *found]


def emit(
    schedule: Schedule,
    plan: MemoryPlan,
    imported: Graph,
    options: Options,
    name: str,
    weight_regions: WeightRegions = ALL_WITH_CODE,
) -> tuple[ModelView, dict[str, bytes]]:
    """The view of a model, and its files by path relative to the output folder.

    imported: the graph before any pass. weight_regions: memories for constants besides the flash of the code.
    """
    view = build(schedule, plan, options, name, weight_regions, imported=imported)
    return view, files_of(view, imported, options)


def files_of(view: ModelView, imported: Graph, options: Options, layout: BuildFolders = PLAIN) -> dict[str, bytes]:
    """The files of a view, by the path that #include lines use. layout: folders for the compile command in the example.

    Raises InternalError for an undeclared name in the C generated for this model, UsageError if a variable of the
    firmware has the same name as something in the C.
    """
    if view.device is not None:
        files = opencl.files_of(view)
        require_declared(files, _made(files, view))
        return files
    name, tested_bytes = view.name, selftest.nbytes(imported, view) if options.selftest else 0
    view = _sealed(view)
    files = {
        f"{name}.h": render("model.h.j2", m=view, selftest_size=tested_bytes),
        f"{name}.c": render("model.c.j2", m=view),
        f"{name}_weights.h": render("weights.h.j2", m=view),
        f"{name}_weights.c": render("weights.c.j2", m=view),
        **view.runtime_files,
    }
    require_declared(files, _made(files, view))
    tflm.require_free(name, view.tflm, files)
    if view.blob and not view.blob.fetched:
        files[f"{name}.blob"] = view.blob.data
    if options.amalgamate:
        from mcugen.emit.amalgamate import amalgamate  # imported on first use, like the parts for OpenCL devices

        files = amalgamate(files, view)
    if options.selftest:
        files[f"{name}_selftest.c"] = _selftest(view, imported)
    if view.bands > 1:
        for kind in ("c", "h"):
            files[f"{EXAMPLES}{name}_threads.{kind}"] = render(f"threads.{kind}.j2", m=view)
    sources = layout.paths(sources_of(files))
    tested = {name} if options.selftest else set()
    return files | {EXAMPLE: render("main.c.j2", m=view, sources=sources, include=layout.include, tested=tested)}


def _made(files: Iterable[str], view: ModelView) -> list[str]:
    """Paths of the C generated for this model: its interface, its steps, and kernels generated for one call."""
    kernels = {f"kernels/{step.kernel.removeprefix('mg_')}.c" for step in view.steps}
    return [f"{view.name}.h", f"{view.name}.c", *sorted(kernels.intersection(files))]


def _sealed(view: ModelView) -> ModelView:
    """The view with the header of its block of constants. The header holds a hash of the code that the block belongs
    to.
    """
    if view.blob is None:
        return view
    code = [render(template, m=view, selftest_size=0) for template in ("model.h.j2", "model.c.j2")]
    return replace(view, blob=blob.sealed(view.blob, blob.layout_of(*code)))


def _selftest(view: ModelView, imported: Graph) -> bytes:
    arrays, tolerances = selftest.arrays(imported, view)
    floats = selftest.computes_floats(imported)
    return render("selftest.c.j2", m=view, arrays=arrays, tolerances=tolerances, runs=selftest.RUNS, floats=floats)
