# SPDX-License-Identifier: Apache-2.0
"""docs/operators.md is the output of `mcugen ops --markdown`, and explains how kernels are chosen."""

from __future__ import annotations

from click.testing import CliRunner

from mcugen.cli import cli
from tests.emit.built import ROOT


def test_the_page_is_what_the_command_prints() -> None:
    page = (ROOT / "docs" / "operators.md").read_text()
    assert CliRunner().invoke(cli, ["ops", "--markdown"]).stdout == page
    assert "cost least" in page.partition("| operator |")[0]
    assert len(page) <= 40_000 and "`Conv`" in page and "`conv`" in page
