"""report.html: one page about a build, made of what report.json holds and of nothing else. It needs no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mcugen.emit import environment
from mcugen.errors import UsageError
from mcugen.report import schema
from mcugen.report.estimates import three_digits
from mcugen.report.facts import SCHEMA
from mcugen.report.svg import escape, fitted, num, ticks

HTML, BADGE = "report.html", "badge.svg"
_WIDTH, _HEIGHT = 1100, 340
_LEFT, _BOTTOM = 70, 26
_LEAST_NAMED = 14
_KIB = 1024.0
_TOP = 3
_MS = 1e3

Facts = Mapping[str, Any]


def html(facts: Facts) -> bytes:
    """The page of a build, or of several models that share their memory."""
    models = [_model(one) for one in facts.get("models", [facts])]
    return _rendered("report.html.j2", title=escape(str(facts["name"])), models=models, single=len(models) == 1)


def _rendered(template: str, **values: Any) -> bytes:
    """A template in ASCII: characters of other alphabets are written as HTML and SVG name them."""
    return environment.render(template, **values).decode().encode("ascii", "xmlcharrefreplace")


def head(facts: Facts) -> str:
    """The head of the page as a piece of HTML, for notebooks."""
    rows = "".join(f"<tr><th>{a}</th><td><b>{b}</b></td><td>{c}</td></tr>" for a, b, c in _verdict(facts))
    return f"<table><caption>{escape(facts['name'])} on {escape(facts['board'])}</caption>{rows}</table>"


def comparison(first: Facts, second: Facts, names: tuple[str, str]) -> bytes:
    """A page with two builds side by side. names: what they are called there."""
    left, right = (_model(one) for one in (first, second))
    rows = [_compared(what, a, b) for what, a, b in _figures(first, second)]
    steps = _pairs(left["steps"], right["steps"])
    return _rendered("compare.html.j2", names=[escape(n) for n in names], models=[left, right], rows=rows, steps=steps)


def badge(facts: Facts) -> bytes:
    """A small picture with the name of the model, its RAM and, where it is known, its time."""
    one = facts.get("models", [facts])[0]
    times = _times(one)
    says = f"{one['ram_bytes'] / _KIB:.1f} KiB RAM" + (f", {times['high']} ms" if times else "")
    left, right = f"mcugen {facts['name']}", f"{says} on {one['board']}"
    a, b = (12 + 6.6 * len(text) for text in (left, right))
    return _rendered("badge.svg.j2", left=escape(left), right=escape(right), a=a, b=b)


def checked(facts: Any, where: str) -> Facts:
    """A document that this version can show. Raises UsageError for any other."""
    found = facts.get("models", [facts]) if isinstance(facts, dict) else []
    wrong = next((bad for one in found if (bad := schema.misfit(one))), "" if found else "the document")
    if wrong or "name" not in facts:
        message = f"is no report of schema {SCHEMA}: {wrong.lstrip('.') or 'name'} is not as it should be"
        raise UsageError(message, where=where, hint="build it again with this mcugen")
    return dict(facts)


def _model(facts: Facts) -> dict[str, Any]:
    """What the template prints about a model; all text of the model is escaped."""
    steps = _steps(facts)
    return {
        "name": escape(facts["name"]),
        "board": escape(facts["board"]),
        "verdict": _verdict(facts),
        "notes": [escape(note) for note in facts["notes"]],
        "command": escape(facts["command"]),
        "sha256": escape(facts["sha256"]),
        "version": escape(facts["version"]),
        "steps": steps,
        "timed": facts["cycles"] is not None,
        "map": _map(facts),
        "removed": _removed(facts["removed"]),
        "regions": [{**r, "name": escape(r["name"]), "why": escape(r["why"])} for r in facts["regions"]],
        "weights": [{**w, "name": escape(w["name"] or "flash"), "why": escape(w["why"])} for w in facts["weights"]],
        "states": facts["states"],
        "files": [escape(name) for name in facts["files"]],
    }


def _verdict(facts: Facts) -> list[tuple[str, str, str]]:
    """(what, figure, remark) of each line at the head."""
    board, saved = facts["board"], facts["macs"] - facts["live_macs"]
    found = [
        ("RAM", f"{facts['ram_bytes']:,} bytes", _share(facts["ram_bytes"], facts["ram_limit_bytes"], board)),
        (
            "Flash for constants",
            f"{facts['weights_bytes']:,} bytes",
            _share(facts["weights_bytes"], facts["flash_limit_bytes"], board),
        ),
        ("Results", escape(facts["promise"]), "mcugen verify checks every layer"),
    ]
    times, cycles = _times(facts), facts["cycles"]
    if times:
        rate = f"{times['least']} to {times['most']} per second, estimated"
        found.append(("Time", f"{times['low']} to {times['high']} ms", rate))
    elif cycles:
        found.append(("Time", f"{cycles['low']:,} to {cycles['high']:,} cycles", "estimated; --clock makes it ms"))
    share = (
        f"{100 * saved / facts['macs']:.0f} % of the model's {facts['macs']:,} are not executed" if saved > 0 else ""
    )
    found.append(("Work", f"{facts['live_macs']:,} MAC", share or "as the model states"))
    return [(what, figure, escape(remark)) for what, figure, remark in found]


def _share(used: int, limit: int | None, board: str) -> str:
    return f"fits: {100 * used / limit:.1f} % of {limit:,} on {board}" if limit else "a bare core has no limit"


def _times(facts: Facts) -> dict[str, str] | None:
    """Milliseconds and runs per second, where cycles and clock are known."""
    cycles, clock = facts["cycles"], facts["clock_hz"]
    if not cycles or not clock:
        return None
    low, high = (_MS * cycles[end] / clock for end in ("low", "high"))
    return {
        "low": three_digits(low),
        "high": three_digits(high),
        "least": three_digits(_MS / max(high, 1e-9)),
        "most": three_digits(_MS / max(low, 1e-9)),
    }


def _weight(step: Facts) -> float:
    """What a step takes: the middle of its cycles; its work where these are not known."""
    cycles = step["cycles"]
    return (cycles["low"] + cycles["high"]) / 2 if cycles else float(step["macs"])


def _steps(facts: Facts) -> list[dict[str, Any]]:
    tensors = {t["name"]: t for t in facts["tensors"]}
    weights = [_weight(step) for step in facts["steps"]]
    total, order = sum(weights) or 1.0, sorted(weights, reverse=True)
    return [
        _step(step, w / total, w >= order[:_TOP][-1], tensors) for step, w in zip(facts["steps"], weights, strict=True)
    ]


def _step(step: Facts, share: float, is_top: bool, tensors: Mapping[str, Facts]) -> dict[str, Any]:
    cycles, macs = step["cycles"], step["macs"]
    text = {key: escape(step[key]) for key in ("name", "op", "sizes", "kernel", "function", "why", "source")}
    middle = _weight(step)
    return {
        **text,
        "index": step["index"],
        "label": escape(fitted(step["name"], 220)),
        "inputs": [_tensor(tensors[name]) for name in step["inputs"] if name in tensors],
        "outputs": [_tensor(tensors[name]) for name in step["outputs"] if name in tensors],
        "macs": macs,
        "low": cycles["low"] if cycles else None,
        "high": cycles["high"] if cycles else None,
        "per_mac": f"{middle / macs:.2f}" if cycles and macs else "",
        "constants": step["constants_bytes"],
        "scratch": step["scratch_bytes"],
        "first": step["first_event"],
        "last": step["last_event"],
        "by_rows": step["by_rows"],
        "share": num(100 * share),
        "top": is_top,
        "buffers": " ".join(
            sorted({_slug(tensors[n]["buffer"]) for n in (*step["inputs"], *step["outputs"]) if n in tensors})
        ),
    }


def _slug(buffer: str) -> str:
    """The name of a buffer as a word of HTML."""
    return "b-" + "".join(c if c.isalnum() and c.isascii() else "-" for c in buffer)


def _tensor(t: Facts) -> str:
    scale = f", scale {t['scale']:.6g}, zero point {t['zero_point']}" if t["scale"] is not None else ""
    return escape(f"{t['name']}: {t['dtype']} {list(t['shape'])}{scale}, {t['nbytes']:,} bytes")


def _removed(removed: Sequence[Facts]) -> list[dict[str, Any]]:
    """What the build took out, counted by kind, with the reasons."""
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


def _map(facts: Facts) -> dict[str, Any]:
    """The memory over time: a rectangle for each buffer, regions one above the other."""
    regions = [r["name"] for r in facts["regions"]]
    sizes = {r["name"]: max(r["used_bytes"], 1) for r in facts["regions"]}
    total = sum(sizes.values())
    base = {name: sum(sizes[other] for other in regions[:k]) for k, name in enumerate(regions)}
    inner, wide = _HEIGHT - _BOTTOM, (_WIDTH - _LEFT) / max(facts["events"], 1)
    ends = dict.fromkeys(facts["outputs"], "output") | dict.fromkeys(facts["inputs"], "input")
    blocks = []
    for b in facts["buffers"]:
        start = base[b["region"]] + b["offset"]
        x, width = _LEFT + b["first_event"] * wide, max((b["last_event"] - b["first_event"] + 1) * wide, 1)
        height = max(b["nbytes"] * inner / total, 1)
        kind = next((ends[n] for n in b["tensors"] if n in ends), "activation" if b["tensors"] else "scratch")
        label = fitted(b["tensors"][-1] if b["tensors"] else b["name"], width - 4) if height >= _LEAST_NAMED else ""
        y = inner - (start + b["nbytes"]) * inner / total
        blocks.append(
            {
                "x": num(x),
                "y": num(y),
                "w": num(width),
                "h": num(height),
                "kind": kind,
                "slug": _slug(b["name"]),
                "title": escape(_block_title(b)),
                "label": escape(label),
                "ty": num(y + height / 2 + 4),
                "tx": num(x + width / 2),
            }
        )
    marks = [{"y": num(inner - v * inner / total), "text": f"{v:,}"} for v in ticks(total, 6)]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "bottom": inner,
        "blocks": blocks,
        "marks": marks,
        "events": facts["events"],
    }


def _block_title(b: Facts) -> str:
    ring = f", {b['rows_kept']} of {b['rows']} rows at a time" if 0 < b["rows_kept"] < b["rows"] else ""
    names = ", ".join(b["tensors"]) or b["name"]
    place = f"{b['nbytes']:,} bytes at {b['offset']:,} in {b['region']}{ring}"
    return f"{names}: {place}; events {b['first_event']} to {b['last_event']}"


def _figures(first: Facts, second: Facts) -> list[tuple[str, float | None, float | None]]:
    keys = (
        ("RAM, bytes", "ram_bytes"),
        ("constants, bytes", "weights_bytes"),
        ("scratch, bytes", "scratch_bytes"),
        ("MAC", "live_macs"),
    )
    found: list[tuple[str, float | None, float | None]] = [(what, first[key], second[key]) for what, key in keys]
    for end, what in (("low", "cycles, least"), ("high", "cycles, most")):
        a, b = ((one["cycles"] or {}).get(end) for one in (first, second))
        found.append((what, a, b))
    return found


def _compared(what: str, a: float | None, b: float | None) -> dict[str, str]:
    change = f"{100 * (b - a) / a:+.1f} %" if a and b is not None else ""
    return {"what": what, "a": "" if a is None else f"{a:,}", "b": "" if b is None else f"{b:,}", "change": change}


def _pairs(left: Sequence[Facts], right: Sequence[Facts]) -> list[dict[str, Any]]:
    """The steps of two builds beside each other: those of one name and operator, in the order of the first."""
    others = {(s["name"], s["op"]): s for s in reversed(right)}
    pairs = [{"a": s, "b": others.pop((s["name"], s["op"]), None)} for s in left]
    return pairs + [{"a": None, "b": s} for s in right if others.get((s["name"], s["op"])) is s]
