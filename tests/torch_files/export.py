# SPDX-License-Identifier: Apache-2.0
"""Layers of PyTorch as its exporters write them: `PYTHON -m tests.torch_files.export EXPORTER FOLDER [TEXT...]`.

PYTHON has torch, onnx and onnxscript. Row N of layers.txt becomes N.EXPORTER.onnx, with its inputs in N.npz;
EXPORTER.json says of the others what the exporter said. Rows that contain one of the texts are exported, or all.
"""

from __future__ import annotations

import functools
import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import mcugen
from mcugen.errors import ToolError
from tests.torch_files.rows import Row, rows


class Called(nn.Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function
        for k, given in enumerate(function.__defaults__ or ()):
            self.add_module(f"given{k}", given)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


class Last(nn.Module):
    """A classifier of sequences: the last step of a recurrent layer into a dense one."""

    def __init__(self, recurrent: nn.Module, dense: nn.Module) -> None:
        super().__init__()
        self.recurrent, self.dense = recurrent, dense

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dense(self.recurrent(x)[0][:, -1])


class Residual(nn.Sequential):
    """Layers whose result is added to what they read."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + super().forward(x))


def causal(steps: int) -> torch.Tensor:
    """The mask of a sequence that sees no later step."""
    return nn.Transformer.generate_square_subsequent_mask(steps)


def module_of(row: Row) -> nn.Module:
    """The layer of a row in evaluation mode, its statistics and weights drawn at random."""
    torch.manual_seed(row.number)
    layer = eval(row.layer, {"torch": torch, "nn": nn, "F": F, "Last": Last, "Residual": Residual, "causal": causal})
    module = layer if isinstance(layer, nn.Module) else Called(layer)
    with torch.no_grad():
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            if tensor.is_floating_point() and tensor.ndim < 2:
                tensor.uniform_(0.2 if "var" in name else -0.9, 0.9)
    return module.eval()


def drawn(kind: str, shape: tuple[int, ...], draws: np.random.Generator) -> torch.Tensor:
    """A tensor of one input: see layers.txt for the kinds."""
    if kind.startswith("i"):
        return torch.from_numpy(draws.integers(0, int(kind[1:]), shape))
    if kind == "b":
        mask = draws.random(shape) < 0.6
        mask[..., 0] = kind == "b" and len(shape) == 2 and shape[0] != 1
        return torch.from_numpy(mask)
    if kind == "u":
        return torch.from_numpy(draws.uniform(-1, 1, shape).astype(np.float32))
    values = draws.normal(0, 1, shape).astype(np.float32)
    return torch.from_numpy(np.abs(values) + np.float32(0.1) if kind == "p" else values)


def read_translations_once() -> None:
    """Keep what dynamo's exporter reads anew for each file, and never changes: most of its time."""
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    ONNXRegistry.from_torchlib = staticmethod(functools.cache(ONNXRegistry.from_torchlib))


def main(arguments: list[str]) -> int:
    exporter, folder, texts = arguments[0], Path(arguments[1]), arguments[2:]
    folder.mkdir(parents=True, exist_ok=True)
    read_translations_once()
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    refused: dict[int, str] = {}
    for row in rows(texts):
        draws = np.random.default_rng(row.number)
        inputs = tuple(drawn(kind, shape, draws) for kind, shape in row.inputs)
        np.savez(folder / f"{row.number}.npz", *(x.numpy() for x in inputs))
        try:
            mcugen.from_torch(module_of(row), inputs, exporter=exporter, to=folder / f"{row.number}.{exporter}.onnx")
        except ToolError as error:
            refused[row.number] = error.message
        print(row.number, row.layer, flush=True)
    (folder / f"{exporter}.json").write_text(json.dumps(refused, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
