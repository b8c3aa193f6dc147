"""Results of checks in report.html: from verify and simulate, and the noise of a quantization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcugen.report.svg import escape, num

_MOST_DB = 60.0
_NOT_RUN = "not run for this build: its option --into notes the result here"

Facts = Mapping[str, Any]


def verified(facts: Facts) -> str:
    """Remark beside the promise of the results."""
    found = facts["verified"]
    if not found:
        return "not checked yet: mcugen verify --into this folder"
    if not found["agrees"]:
        return "verify found DIFFERENCES, see the end of this page"
    return f"verified: {found['tensors']} tensors of {found['cases']} inputs agree with NumPy"


def how_timed(facts: Facts) -> str:
    """How the cycles were obtained."""
    ran = facts["simulated"]
    return f"of {ran['instructions']:,} instructions counted" if ran and ran["cycles"] else "estimated"


def trust(facts: Facts) -> list[tuple[str, str]]:
    """(check, result) for all checks, whether they ran or not."""
    checked, ran = facts["verified"], facts["simulated"]
    found = (
        _verified(checked) if checked else [("mcugen verify", "not run for this build: --into FOLDER notes it here")]
    )
    found += [("Estimates of cycles", f"checked against {facts['checked']}")] if facts.get("checked") else []
    found += _simulated(ran) if ran else [("mcugen simulate", "not run for this build: --into FOLDER notes it here")]
    return [(what, escape(result)) for what, result in found]


def _verified(v: Facts) -> list[tuple[str, str]]:
    far = "not a number" if v["max_abs_diff"] is None else f"{v['max_abs_diff']:g}"
    found = [
        (
            "C against NumPy",
            f"{'agree' if v['agrees'] else 'DIFFER'}: {v['cases']} inputs, {v['tensors']} tensors each, "
            f"largest difference {far}, under the address and undefined-behaviour sanitizers",
        ),
        ("Constants derived twice", f"{v['constants']} multipliers, bounds and tables"),
    ]
    found += [("Recorded outputs", f"{v['recorded_cases']} inputs")] if v["recorded_cases"] else []
    found += [("The file computed by", ", ".join(v["witnesses"]))] if v["witnesses"] else []
    found += [("Wrong", fault) for fault in v["faults"]]
    return [*found, ("Checked by", f"mcugen {v['version']}")]


def _simulated(s: Facts) -> list[tuple[str, str]]:
    verdict = "agrees" if s["agrees"] and s["repeatable"] else "DIFFERS"
    return [
        (
            f"Emulated {s['machine']}",
            f"{verdict}: {s['cases']} inputs, each run twice, cross compiler at {s['optimize']}",
        ),
        ("Instructions", f"{s['instructions']:,} in an inference, counted"),
        ("Image", f"{s['text_bytes']:,} bytes of code, {s['rodata_bytes']:,} of constants"),
        (
            "Stack",
            f"{s['stack_bytes']:,} bytes used, at most {s['stack_bound_bytes']:,} on any path without interrupts",
        ),
        ("Deepest path", " > ".join(s["stack_path"])),
        *(("Note", note) for note in s["notes"]),
    ]


def noise(facts: Facts) -> list[dict[str, Any]]:
    """Layers of a model that the build quantized, with the widths of their noise bars."""
    return [
        {
            "name": escape(layer["name"]),
            "stored": escape(layer["stored"]),
            "own": f"{layer['own']:.1f}",
            "total": f"{layer['total']:.1f}",
            "own_width": num(_share(layer["own"])),
            "total_width": num(_share(layer["total"])),
            "saturated": f"{100 * layer['saturated']:.2f}",
        }
        for layer in facts["quantization"]
    ]


def _share(decibels: float) -> float:
    return 100 * min(max(decibels, 0.0) / _MOST_DB, 1.0)
