# SPDX-License-Identifier: Apache-2.0
"""GRUs whose gates and clip change the results, with inputs that show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx

from tests.formats.onnx_models import Writer

T, N, H = 5, 3, 4
"""Steps, features and state of recurrent layers."""
Build = Callable[[Writer], str]


def gru(**attributes: Any) -> Build:
    """A state and weights so large that each gate takes values all over its range."""

    def build(w: Writer) -> str:
        parts = [(2 * w.rng.normal(0, 1, s)).astype(np.float32) for s in ((1, 3 * H, N), (1, 3 * H, H), (1, 6 * H))]
        state = w.constant(w.rng.normal(0, 1, (1, 1, H)).astype(np.float32))
        weights, again, bias = map(w.constant, parts)
        x = w.input((T, 1, N))
        return str(w.node("GRU", [x, weights, again, bias, "", state], 2, hidden_size=H, **attributes)[0])

    return build


MODELS: Mapping[str, Build] = {
    "gru": gru(),
    "gru_after": gru(linear_before_reset=1),
    "gru_clip": gru(clip=0.7),
    "gru_clip_after": gru(clip=0.4, linear_before_reset=1),
}


def made(name: str) -> tuple[onnx.ModelProto, np.ndarray]:
    """A model and its input."""
    w = Writer(seed=sum(map(ord, name)))
    model = w.model(MODELS[name](w))
    shape = [d.dim_value for d in w.inputs[0].type.tensor_type.shape.dim]
    return model, w.rng.normal(0, 1, shape).astype(np.float32)
