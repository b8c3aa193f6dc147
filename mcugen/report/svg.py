"""Text of SVG pictures: elements, numbers and labels. The bytes are the same on every computer."""

from __future__ import annotations

from collections.abc import Sequence

STYLE = """
text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#1f2328}
.back{fill:#fff}.title{font-size:16px;font-weight:600}.small,.tick{font-size:11px;fill:#59636e}
.axis{stroke:#8c959f;fill:none}.grid{stroke:#d1d9e0;fill:none;stroke-width:.6}
.input{fill:#9cc4f0;stroke:#1f5fa8}.output{fill:#f6bf8a;stroke:#a85410}
.activation{fill:#b5dfb8;stroke:#2e7d3a}.scratch{fill:#d4d0dc;stroke:#6d6680}
.block{stroke-width:.6}.name{font-size:11px;pointer-events:none;paint-order:stroke;stroke:#fff;stroke-opacity:.6;stroke-width:2.5px}
.live{fill:#b9c6d6;stroke:#4a6078;stroke-width:.8}.bound{stroke:#c4232b;fill:none;stroke-dasharray:5 3}
.peak{stroke:#c4232b;fill:none}.say{fill:#c4232b;font-size:11px}
.point{fill:#1f5fa8}.front{stroke:#1f5fa8;fill:none;stroke-width:1.5}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.name{stroke:#0d1117}.back{fill:#0d1117}.small,.tick{fill:#9da7b3}.axis{stroke:#6e7681}.grid{stroke:#2b323b}
.input{fill:#1f4e82;stroke:#7db4f0}.output{fill:#7d4312;stroke:#f0a868}
.activation{fill:#22582c;stroke:#77c283}.scratch{fill:#474253;stroke:#a9a1bd}
.live{fill:#33475c;stroke:#8fa9c4}.bound,.peak{stroke:#ff7b72}.say{fill:#ff7b72}
.point{fill:#7db4f0}.front{stroke:#7db4f0}
}
""".strip()
_CHARACTER = 6.3  # average width in pixels of a character of an 11 px label


def escape(text: str) -> str:
    """Text for SVG. Markup is escaped. Characters that do not print, or that reverse text direction, become "?"."""
    shown = text if text.isprintable() else "".join(c if c == "\n" or c.isprintable() else "?" for c in text)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def num(value: float) -> str:
    """A coordinate with at most one decimal."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "") -> str:
    """A line of text. kind: its CSS class. anchor: start, middle or end."""
    extra = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{num(x)}" y="{num(y)}"{extra}>{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{num(x1)} {num(y1)}L{num(x2)} {num(y2)}"/>'


def document(width: int, height: int, body: Sequence[str], description: str) -> bytes:
    """The whole file, in ASCII. Its background is opaque, so that it is readable in light and dark viewers."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    parts = [head, f"<desc>{escape(description)}</desc>", f"<style>{STYLE}</style>"]
    parts += [f'<rect class="back" width="{width}" height="{height}"/>', *body, "</svg>"]
    return ("\n".join(parts) + "\n").encode("ascii", "xmlcharrefreplace")


def width_of(label: str) -> float:
    """Approximate width of a label in pixels."""
    return _CHARACTER * len(label)


def fitted(label: str, width: float) -> str:
    """The label, shortened in the middle if it is too long for `width` pixels; empty if fewer than 5 characters fit."""
    room = int(width / _CHARACTER)
    if len(label) <= room:
        return label
    return f"{label[: room // 2]}…{label[len(label) - (room - room // 2 - 1) :]}" if room >= 5 else ""


def ticks(most: int, count: int) -> list[int]:
    """Round values from 0 to at most `most`, about `count` of them."""
    step = 1
    while most // step > count:
        step = step * 2 if str(step)[0] in "15" else step // 2 * 5
    return list(range(0, most + 1, step))
