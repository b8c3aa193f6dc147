"""`python -m mcugen` is `mcugen`."""

from __future__ import annotations

from mcugen.cli import main

main()
