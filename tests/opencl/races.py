# SPDX-License-Identifier: Apache-2.0
"""Examples of operators on OpenCL kernels under oclgrind, which reports races and accesses out of bounds.

    python -m tests.opencl.races [OpName ...]

launches each kernel once, and those with local memory with each of their tiles, on a device with 32 KB of local memory
and work-groups of at most 64. Kernels that need a fence between work-groups are exempt, and named: OpenCL 1.2 has none,
so oclgrind calls what they do a race. Fails where oclgrind reports anything, where a result is wrong, where a kernel of
the examples did not run, or where a race that is planted goes unseen.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from mcugen.ir.op import Example
from mcugen.solve.schedule import Choice
from tests.opencl import launched
from tests.opencl.fused import ALL

LOCAL_BYTES = 32768
MOST_MACS = 20_000
"""Work of the launches: oclgrind takes about a microsecond for each."""
FENCE = "fence"
Found = tuple[Example, Choice, str]


def chosen(names: Iterable[str]) -> tuple[list[Found], set[str], set[str]]:
    """The smallest launch of each kernel, with each tile where it has local memory; all kernels, and those exempt."""
    best: dict[tuple[object, ...], tuple[int, Found]] = {}
    every: set[str] = set()
    exempt: set[str] = set()
    for name in names:
        for example, choice, which in launched.choices(ALL[name]):
            kernel, call = choice.kernel, choice.call
            grid = kernel.launch(call)
            every.add(kernel.symbol)
            if FENCE in kernel.needs:
                exempt.add(kernel.symbol)
            elif grid.local_bytes <= LOCAL_BYTES:
                key = (kernel.symbol, kernel.grid.tile if grid.local_bytes else ())
                work = call.op.macs(call) + call.output.size
                if key not in best or work < best[key][0]:
                    best[key] = (work, (example, choice, which))
    return [found for work, found in best.values() if work <= MOST_MACS], every, exempt


def reports(cases: Sequence[launched.Launched], *, planted: bool = False) -> tuple[list[str], str]:
    """Wrong results, and what oclgrind says. planted: leave out all barriers."""
    limits = ["--data-races", "--local-mem-size", str(LOCAL_BYTES), "--max-wgsize", str(launched.MAX_GROUP)]
    with tempfile.TemporaryDirectory() as place:
        log = Path(place) / "oclgrind.log"
        wrong = launched.check(
            cases,
            Path(place),
            under=["oclgrind", *limits, "--log", str(log)],
            without=(b"barrier(CLK_LOCAL_MEM_FENCE);",) if planted else (),
        )
        return wrong, log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else ""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="*")
    os.environ["MCUGEN_CL_CACHE"] = ""
    found, every, exempt = chosen(parser.parse_args(arguments).ops or sorted(ALL))
    cases = [next(launched.cases(*one)) for one in found]
    symbols = {case.choice.kernel.symbol for case in cases}
    print(f"{len(cases)} launches of {len(symbols)} kernels: {' '.join(sorted(symbols))}", flush=True)
    print(f"exempt, as they need a fence between work-groups: {' '.join(sorted(exempt)) or 'none'}", flush=True)
    if not cases or every - exempt - symbols:
        print(f"FAILED: these did not run: {' '.join(sorted(every - exempt - symbols)) or 'all'}")
        return 1
    wrong, said = reports(cases)
    print("\n".join([*wrong[:20], *said.splitlines()[:60]]) or "nothing reported")
    sharing = [case for case in cases if case.choice.kernel.launch(case.choice.call).local_bytes][:1]
    unseen = bool(sharing) and "race" not in reports(sharing, planted=True)[1].lower()
    if unseen:
        print("FAILED: oclgrind did not see a race that was planted")
    return 1 if wrong or said or unseen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
