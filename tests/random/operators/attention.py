# SPDX-License-Identifier: Apache-2.0
"""Attention and what goes with it."""

from __future__ import annotations

import numpy as np

from tests.random.operators import draws
from tests.random.sketch import Sketch


@draws("Attention", since=23)
def attention(s: Sketch) -> None:
    heads, steps, width = s.number(1, 2), s.number(1, 4), s.pick((2, 4))
    shape = (1, heads, steps, width)
    q, k, v = s.take(shape=shape), s.input(shape), s.input(shape)
    mask = [s.const(s.floats((steps, steps)))] if s.chance(0.4) else []
    more = {"scale": s.pick((None, 0.5)), "softcap": s.pick((None, 2.0)), "is_causal": s.pick((None, 0, 1))}
    s.node("Attention", [q, k, v, *mask], **more)


@draws("RotaryEmbedding", since=23)
def rotary(s: Sketch) -> None:
    batch, heads, steps, half = s.number(1, 2), s.number(1, 2), s.number(1, 4), s.number(1, 3)
    x = s.take(shape=(batch, heads, steps, 2 * half))
    angles = s.rng.uniform(0, 6, (batch, steps, half))
    tables = [s.const(f(angles).astype(np.float32)) for f in (np.cos, np.sin)]
    s.node("RotaryEmbedding", [x, *tables], interleaved=s.pick((None, 0, 1)))


@draws("CenterCropPad", since=18)
def center_crop_pad(s: Sketch) -> None:
    x = s.take()
    axes = [k for k in range(x.rank) if s.chance(0.6)] or [0]
    sizes = s.int64(*(max(1, x.shape[k] + s.number(-2, 2)) for k in axes))
    s.node("CenterCropPad", [x, sizes], True, axes=axes)
