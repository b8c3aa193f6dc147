"""Emission for OpenCL devices: program text, tables of the host program, and the file of constants."""

from __future__ import annotations

from mcugen.emit.environment import render
from mcugen.emit.model_parts import DeviceView, literal
from mcugen.emit.view import ModelView
from mcugen.system import resources

_HOST = "kernels/opencl_"
"""Path prefix of model-independent host files."""


def is_host(path: str) -> bool:
    """Whether an emitted file is C of the OpenCL host program that does not depend on the model."""
    return path.startswith(_HOST)


def host_files() -> dict[str, bytes]:
    """The model-independent C and headers of the OpenCL host program, by path relative to the output folder."""
    found = sorted((resources.templates() / "opencl" / "host").iterdir())
    return {f"{'mcugen' if p.suffix == '.h' else 'kernels'}/{p.name}": p.read_bytes() for p in found}


def files_of(view: ModelView) -> dict[str, bytes]:
    """The files of a model for a device, by path relative to the output folder."""
    assert view.device is not None
    name = view.name
    files = {
        f"{name}.h": render("opencl/model.h.j2", m=view, d=view.device),
        f"{name}.c": render("opencl/model.c.j2", m=view, d=view.device, titles=_titles(view.device)),
        f"{name}.cl": view.device.source.encode(),
        f"{name}_weights.bin": view.device.constants,
        **host_files(),
        **view.runtime_files,
    }
    if view.arrays:
        files[f"{name}_weights.h"] = render("weights.h.j2", m=view)
        files[f"{name}_weights.c"] = render("weights.c.j2", m=view)
    sources = [path for path in sorted(files) if path.endswith(".c")]
    return files | {"examples/main.c": render("opencl/main.c.j2", m=view, sources=sources)}


def _titles(device: DeviceView) -> list[str]:
    """The titles of the steps as C strings."""
    return [literal(step.title) for step in device.steps]
