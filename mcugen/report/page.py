"""report.html: a page about one build. It is made from report.json alone and needs no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcugen.boards.machine import Energy
from mcugen.emit import environment
from mcugen.errors import UsageError
from mcugen.report import estimates, page_checks, page_graph, page_memory, schema
from mcugen.report.estimates import three_digits
from mcugen.report.facts import SCHEMA, CycleFacts
from mcugen.report.svg import escape, num
from mcugen.system import tabular

HTML, BADGE = "report.html", "badge.svg"
_TOP, _LONGEST_LABEL, _LONGEST_LAYER, _LONGEST_WIDE = 3, 20, 24, 60
_MS = 1e3

Facts = Mapping[str, Any]


def html(facts: Facts) -> bytes:
    """The page of a build, or of several models that share their memory."""
    models = [_model(one) for one in facts.get("models", [facts])]
    return _rendered("report.html.j2", title=escape(_title(facts)), models=models, single=len(models) == 1)


def _rendered(template: str, **values: Any) -> bytes:
    """A rendered template in ASCII. Other characters become HTML and SVG entities."""
    return environment.render(template, **values).decode().encode("ascii", "xmlcharrefreplace")


def _title(facts: Facts) -> str:
    """The model's title. Several models that share their memory have only their common C name."""
    return str(facts.get("title") or facts["name"])


def head(facts: Facts) -> str:
    """The summary at the top of the page as a piece of HTML, for notebooks."""
    rows = "".join(f"<tr><th>{a}</th><td><b>{b}</b></td><td>{c}</td></tr>" for a, b, c in _verdict(facts))
    return f"<table><caption>{escape(_title(facts))} on {escape(facts['board'])}</caption>{rows}</table>"


def comparison(first: Facts, second: Facts, names: tuple[str, str]) -> bytes:
    """A page that compares two builds side by side. names: their titles."""
    counted = all(one["simulated"] and one["simulated"]["cycles"] for one in (first, second))
    both = (first, second) if counted else ({**first, "simulated": None}, {**second, "simulated": None})
    left, right = (_model(one) for one in both)
    rows = [_compared(what, a, b) for what, a, b in _figures(*both)]
    return _rendered(
        "compare.html.j2",
        names=[escape(n) for n in names],
        labels=[escape(n) for n in _labels(names)],
        clocked=all(m["clocked"] for m in (left, right)),
        models=[left, right],
        rows=rows,
        steps=_pairs(left["steps"], right["steps"]),
        how="of the instructions counted on the emulated core" if counted else "estimated from the costs of kernels",
    )


def _labels(paths: tuple[str, str]) -> tuple[str, str]:
    """Column headings for two builds: the names of their folders if short and different, otherwise A and B."""
    first, second = (Path(path).name for path in paths)
    short = max(len(first), len(second)) <= _LONGEST_LABEL and all((first, second)) and first != second
    return (first, second) if short else ("A", "B")


def badge(facts: Facts) -> bytes:
    """A small picture with the model's name, its RAM and, if known, its time."""
    one = facts.get("models", [facts])[0]
    times = _times(one)
    says = f"{one['ram_bytes']:,} bytes RAM" + (f", {times['high']} ms" if times else "")
    left, right = f"mcugen {_title(facts)}", f"{says} on {one['board']}"
    a, b = (12 + 6.6 * len(text) for text in (left, right))
    return _rendered("badge.svg.j2", left=escape(left), right=escape(right), a=a, b=b)


def checked(facts: Any, where: str) -> Facts:
    """A document that this version can show. Raises UsageError if its schema differs."""
    found = facts.get("models", [facts]) if isinstance(facts, dict) else []
    misfits = [schema.misfit(one) or _not_counted(one) for one in found] or ["the document"]
    wrong = next(filter(None, misfits), "")
    if wrong or "name" not in facts:
        message = f"this is not a report of schema {SCHEMA}: {wrong.lstrip('.') or 'name'} is missing or invalid"
        raise UsageError(message, where=where, hint="build it again with this mcugen")
    return dict(facts)


def _not_counted(facts: Facts) -> str:
    """Path of the simulation's steps if their number differs from that of the build, otherwise ""."""
    ran = facts["simulated"]
    return "simulated.steps" if ran and len(ran["steps"]) != len(facts["steps"]) else ""


def _model(facts: Facts) -> dict[str, Any]:
    """Template values of a model. All text from the model is escaped."""
    weights = [_weight(facts, step) for step in facts["steps"]]
    return {
        "name": escape(facts["name"]),
        "title": escape(_title(facts)),
        "board": escape(facts["board"]),
        "verdict": _verdict(facts),
        "notes": [escape(note) for note in facts["notes"]],
        "command": escape(facts["command"]),
        "sha256": escape(facts["sha256"]),
        "version": escape(facts["version"]),
        "steps": _steps(facts, weights),
        "timed": facts["cycles"] is not None,
        "clocked": _times(facts) is not None,
        "counted": facts["simulated"] is not None,
        "map": page_memory.map_of(facts, weights),
        "graph": page_graph.graph_of(facts),
        "removed": _removed(facts["removed"]),
        "regions": [{**r, "name": escape(r["name"]), "why": escape(r["why"])} for r in facts["regions"]],
        "weights": _weights(facts),
        "points": page_memory.points_of(facts),
        "noise": page_checks.noise(facts),
        "trust": page_checks.trust(facts),
        "states": facts["states"],
        "files": [escape(name) for name in facts["files"]],
    }


def _verdict(facts: Facts) -> list[tuple[str, str, str]]:
    """(quantity, figure, remark) of each line of the summary."""
    board, saved = facts["board"], facts["macs"] - facts["live_macs"]
    found = [
        ("RAM", f"{facts['ram_bytes']:,} bytes", _share(facts["ram_bytes"], facts["ram_limit_bytes"], board)),
        (
            "Flash for constants",
            f"{facts['weights_bytes']:,} bytes",
            _share(facts["weights_bytes"], facts["flash_limit_bytes"], board),
        ),
        ("Results", escape(facts["promise"]), page_checks.verified(facts)),
    ]
    times, cycles = _times(facts), _cycles(facts)
    if times:
        rate = f"{times['least']} to {times['most']} per second, {page_checks.how_timed(facts)}"
        found.append(("Time", f"{times['low']} to {times['high']} ms", rate))
    elif cycles:
        remark = f"{page_checks.how_timed(facts)}; --clock makes it ms"
        found.append(("Time", f"{cycles['low']:,} to {cycles['high']:,} cycles", remark))
    if cycles and facts.get("energy"):
        energy = Energy(**facts["energy"])
        span = estimates.joules(CycleFacts(cycles["low"], cycles["high"]), energy)
        found.append(("Energy", span, estimates.source_of(energy)))
    share = (
        f"{100 * saved / facts['macs']:.0f} % of the model's {facts['macs']:,} are not executed" if saved > 0 else ""
    )
    found.append(("Work", f"{facts['live_macs']:,} MAC", share or "nothing removed"))
    return [(what, figure, escape(remark)) for what, figure, remark in found]


def _cycles(facts: Facts) -> Any:
    """Cycles of an inference: from the emulated core if it was simulated, otherwise estimated from costs."""
    return (facts["simulated"] or facts)["cycles"] or facts["cycles"]


def _share(used: int, limit: int | None, board: str) -> str:
    return f"fits: {100 * used / limit:.1f} % of {limit:,} on {board}" if limit else "a bare core has no limit"


def _times(facts: Facts) -> dict[str, str] | None:
    """Milliseconds and runs per second, if cycles and clock are known."""
    cycles, clock = _cycles(facts), facts["clock_hz"]
    if not cycles or not clock:
        return None
    low, high = (_MS * cycles[end] / clock for end in ("low", "high"))
    return {
        "low": three_digits(low),
        "high": three_digits(high),
        "least": three_digits(_MS / max(high, 1e-9)),
        "most": three_digits(_MS / max(low, 1e-9)),
    }


def _of_step(facts: Facts, step: Facts) -> tuple[Facts | None, Any]:
    """A step's counts from the simulation, or None, and its cycles."""
    ran = facts["simulated"]["steps"][step["index"]] if facts["simulated"] else None
    return ran, (ran and ran["cycles"]) or step["cycles"]


def _weight(facts: Facts, step: Facts) -> float:
    """Cost of a step: the middle of its cycles, or its multiply-accumulates if cycles are not known."""
    cycles = _of_step(facts, step)[1]
    return (cycles["low"] + cycles["high"]) / 2 if cycles else float(step["macs"])


def _steps(facts: Facts, weights: Sequence[float]) -> list[dict[str, Any]]:
    tensors = {t["name"]: t for t in facts["tensors"]}
    total, top = sum(weights) or 1.0, tabular.largest(weights, _TOP)
    return [
        _step(facts, step, w / total, step["index"] in top, tensors)
        for step, w in zip(facts["steps"], weights, strict=True)
    ]


def _step(facts: Facts, step: Facts, share: float, is_top: bool, tensors: Mapping[str, Facts]) -> dict[str, Any]:
    (ran, cycles), macs = _of_step(facts, step), step["macs"]
    text = {key: escape(step[key]) for key in ("name", "op", "sizes", "kernel", "function", "why", "source")}
    middle = _weight(facts, step)
    touched = [tensors[name] for name in (*step["inputs"], *step["outputs"]) if name in tensors]
    return {
        **text,
        "index": step["index"],
        "label": escape(_ending(step["name"])),
        "longer": escape(_ending(step["name"], _LONGEST_WIDE)),
        "inputs": [_tensor(tensors[name]) for name in step["inputs"] if name in tensors],
        "outputs": [_tensor(tensors[name]) for name in step["outputs"] if name in tensors],
        "operators": [escape(name) for name in step["operators"]],
        "instructions": ran["instructions"] if ran else None,
        "code": ran["code_bytes"] if ran else None,
        "macs": macs,
        "low": cycles["low"] if cycles else None,
        "high": cycles["high"] if cycles else None,
        "ms": three_digits(_MS * middle / facts["clock_hz"]) if cycles and facts["clock_hz"] else "",
        "per_mac": f"{middle / macs:.2f}" if cycles and macs else "",
        "constants": step["constants_bytes"],
        "scratch": step["scratch_bytes"],
        "first": step["first_event"],
        "last": step["last_event"],
        "by_rows": step["by_rows"],
        "share": num(100 * share),
        "top": is_top,
        "buffers": " ".join(sorted({page_memory.slug(t["buffer"]) for t in touched})),
    }


def _ending(name: str, longest: int = _LONGEST_LAYER) -> str:
    """The end of a layer's name. Layer names often begin alike."""
    return name if len(name) <= longest else f"…{name[1 - longest :]}"


def _tensor(t: Facts) -> str:
    scale = f", scale {t['scale']:.6g}, zero point {t['zero_point']}" if t["scale"] is not None else ""
    return escape(f"{t['name']}: {t['dtype']} {list(t['shape'])}{scale}, {t['nbytes']:,} bytes")


def _weights(facts: Facts) -> list[dict[str, Any]]:
    """Memories of constants. of: size of the flash, if it is the only memory."""
    of = facts["flash_limit_bytes"] if len(facts["weights"]) == 1 else None
    return [{**w, "name": escape(w["name"] or "flash"), "why": escape(w["why"]), "of": of} for w in facts["weights"]]


def _removed(removed: Sequence[Facts]) -> list[dict[str, Any]]:
    """Removals by the build, counted by kind, with their reasons."""
    counts: Counter[str] = Counter()
    reasons: dict[str, dict[str, None]] = {}
    for item in removed:
        counts[item["what"]] += item["channels"] or 1
        reasons.setdefault(item["what"], {})[item["why"]] = None
    most = max(counts.values(), default=1)
    return [
        {"what": escape(what), "count": n, "width": num(100 * n / most), "why": [escape(why) for why in reasons[what]]}
        for what, n in counts.most_common()
    ]


def _figures(first: Facts, second: Facts) -> list[tuple[str, float | None, float | None]]:
    keys = (
        ("RAM, bytes", "ram_bytes"),
        ("constants, bytes", "weights_bytes"),
        ("scratch, bytes", "scratch_bytes"),
        ("MAC", "live_macs"),
    )
    found: list[tuple[str, float | None, float | None]] = [(what, first[key], second[key]) for what, key in keys]
    for end, what in (("low", "cycles, least"), ("high", "cycles, most")):
        a, b = ((_cycles(one) or {}).get(end) for one in (first, second))
        found.append((what, a, b))
    if first["simulated"] and second["simulated"]:
        found.append(("instructions", *(one["simulated"]["instructions"] for one in (first, second))))
    return found


def _compared(what: str, a: float | None, b: float | None) -> dict[str, str]:
    change = f"{100 * (b - a) / a:+.1f} %" if a and b is not None else ""
    return {"what": what, "a": "" if a is None else f"{a:,}", "b": "" if b is None else f"{b:,}", "change": change}


def _pairs(left: Sequence[Facts], right: Sequence[Facts]) -> list[dict[str, Any]]:
    """Steps of two builds side by side: pairs with equal name and operator, in the order of the first build."""
    others: dict[tuple[str, str], list[Facts]] = {}
    for s in reversed(right):
        others.setdefault((s["name"], s["op"]), []).append(s)
    pairs = [{"a": s, "b": found.pop() if (found := others.get((s["name"], s["op"]))) else None} for s in left]
    paired = {pair["b"]["index"] for pair in pairs if pair["b"]}
    return pairs + [{"a": None, "b": s} for s in right if s["index"] not in paired]
