"""report.html and badge.svg: the build as a page, and as a small picture. `--no-report` leaves both out."""

from __future__ import annotations

from mcugen.report import page
from mcugen.report.output import Content, Output

OPTIONAL = True
"""Whether --no-report leaves this page out."""


def files(output: Output) -> dict[str, Content]:
    """The page and the badge."""
    return {
        page.HTML: lambda complete: page.html(complete.facts),
        page.BADGE: lambda complete: page.badge(complete.facts),
    }
