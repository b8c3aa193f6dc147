"""A collection of models: folders with info.json, model.tflite, golden.npz and trace.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EMULATED = (
    "mlperf_ic_int8",
    "mlperf_kws_int8",
    "mlperf_vww_int8",
    "mlperf_ad_int8",
    "mlperf_strww_int8",
    "person_detect_int8",
    "hello_world_int8",
    "micro_speech_int8",
)
"""Models small enough for every emulated machine."""


def is_in_scope(info: dict[str, Any]) -> bool:
    """Whether a model is a .tflite without hybrid and custom operators."""
    plain = info.get("fmt") == "tflite" and info.get("hybrid_ops") == 0
    return bool(plain and not any(name.startswith("CUSTOM:") for name in info["ops"]))


def models(root: Path) -> list[Path]:
    """Folders of the models in scope, sorted."""
    found = sorted(path.parent for path in root.rglob("info.json"))
    return [folder for folder in found if is_in_scope(json.loads((folder / "info.json").read_text()))]
