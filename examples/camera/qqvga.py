# SPDX-License-Identifier: Apache-2.0
"""Pictures of a colour camera, 160x120 pixels in RGB565: events for qqvga.c, or the decisions that it prints.

    python examples/camera/qqvga.py events > events.bin
    python examples/camera/qqvga.py decisions
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
HERE = Path(__file__).resolve().parent
WORDS = "rgb565(160x120,order=big),crop=120,gray,resize=32x32,scale=1/255"
DECISION = "mean=2,unknown=0.6"
NAMES = ("nothing", "disc", "square", "triangle", "unknown")
TINT = (1.2, 0.9, 1.0)
EACH = 3


def pictures() -> Array:
    """Pictures [12, 120, 160, 2] as the camera sends them, the upper byte first: each shape is seen in three."""
    recorded = np.load(HERE / "shapes_test.npz")
    images, labels = recorded["images"][..., 0], recorded["labels"]
    chosen = np.concatenate([np.resize(np.flatnonzero(labels == kind), EACH) for kind in range(4)])
    places = np.arange(120) * 32 // 120
    large = np.pad(images[chosen][:, places][:, :, places], ((0, 0), (0, 0), (20, 20)), mode="edge")
    red, green, blue = (np.minimum(np.rint(large * share), 255).astype(int) for share in TINT)
    words = red // 8 << 11 | green // 4 << 5 | blue // 8
    return words.astype(">u2")[..., None].view(np.uint8)


def events() -> bytes:
    """The stream that qqvga.c reads: a vertical sync before each picture, and its lines."""
    return b"".join(b"V" + b"".join(b"L" + line.tobytes() for line in picture) for picture in pictures())


def decisions() -> list[str]:
    """What the model decides after each picture."""
    import mcugen

    model = mcugen.load(HERE / "shapes.tflite", name="qqvga", preprocess=WORDS, decide=DECISION)
    return [NAMES[int(model.run(picture[None])[0].item())] for picture in pictures()]


if __name__ == "__main__":
    if sys.argv[1:] == ["events"]:
        sys.stdout.buffer.write(events())
    elif sys.argv[1:] == ["decisions"]:
        print("\n".join(decisions()))
    else:
        sys.exit(__doc__)
