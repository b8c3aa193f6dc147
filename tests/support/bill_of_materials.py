# SPDX-License-Identifier: Apache-2.0
"""Contents and requirements of a wheel, as CycloneDX JSON: python -m tests.support.bill_of_materials WHEEL"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def bill(wheel: Path) -> dict[str, Any]:
    """The document: the wheel itself, and each package that it requires without extras, with the version tested."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    required = [line for line in metadata.get_all("Requires-Dist") or [] if "extra ==" not in line]
    names = [re.split(r"[ <>=!~;\[]", line, maxsplit=1)[0] for line in required]
    main = _component(metadata["Name"], metadata["Version"])
    main["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}]
    main["licenses"] = [{"license": {"id": "Apache-2.0"}}]
    parts = [_component(name, _tested(name)) for name in names]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": main},
        "components": parts,
        "dependencies": [{"ref": main["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def _component(name: str, release: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{name.lower()}@{release}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": release, "purl": purl}


def _tested(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


if __name__ == "__main__":
    print(json.dumps(bill(Path(sys.argv[1])), indent=2))
