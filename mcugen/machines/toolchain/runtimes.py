"""Runs the reference runtimes themselves, if installed: TFLM, LiteRT's reference kernels, ONNX Runtime.

They are Python packages that mcugen does not need. Each runs in a process of its own, since it may abort.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import pickle
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np

from mcugen.errors import ToolError
from mcugen.machines.toolchain import runtime_child
from mcugen.options import RUNTIMES

PACKAGES = {
    "tflm": ("tflite-micro", "tflite_micro"),
    "litert": ("ai-edge-litert", "ai_edge_litert"),
    "ort": ("onnxruntime", "onnxruntime"),
}
"""Runtime -> (name of its package, name of its module)."""

Key = int | str
"""Key of a tensor in the file: its index in a .tflite file, its name in an ONNX file."""

_CHILD = Path(runtime_child.__file__)
_LIMIT_S = 120.0
_NOISE = ("INFO:", "WARNING:", "Failed to get registration from op code")
_SHOWN_REASON = 200


@dataclass(frozen=True, eq=False)
class Answer:
    """The result of a model in a runtime.

    outputs: per input set, the graph's outputs. tensors: per input set, the requested tensors by key. refused: the
    runtime's error text; "" if the model ran. crashed: whether the runtime ended its process.
    """

    outputs: list[list[np.ndarray]] = field(default_factory=list)
    tensors: list[dict[Key, np.ndarray]] = field(default_factory=list)
    refused: str = ""
    crashed: bool = False


def require(name: str) -> str:
    """The version of an installed runtime. Raises ToolError with the install command if it is missing."""
    package, module = PACKAGES[name]
    if importlib.util.find_spec(module) is None:
        raise ToolError(
            f"{RUNTIMES[name]} is not installed", where=package, hint=f"{sys.executable} -m pip install {package}"
        )
    return f"{package} {importlib.metadata.version(package)}"


class Runtime:
    """A runtime in a child process, as a context manager. The process starts with the first model, and again after a
    crash.
    """

    def __init__(self, name: str) -> None:
        """name: a key of PACKAGES. Raises ToolError if the runtime is not installed."""
        self.name = name
        self.version = require(name)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()
        self._log.close()

    def run(
        self,
        model: bytes,
        sets: Sequence[Sequence[np.ndarray]],
        tensors: Sequence[Key] = (),
        *,
        follow: bool = False,
    ) -> Answer:
        """Run a model file on input sets, each in the order of the graph's inputs. A refusal is in the answer, not
        raised.

        tensors: keys of tensors to return besides the outputs. For an ONNX file, keys of outputs; only these are
        returned. follow: whether each set continues from the states that the previous set left; otherwise each starts
        anew.
        """
        process = self._started()
        start = self._log.seek(0, 2)
        assert process.stdin and process.stdout
        try:
            pickle.dump((model, [list(arrays) for arrays in sets], list(tensors), follow), process.stdin)
            process.stdin.flush()
            if not select.select([process.stdout], [], [], _LIMIT_S)[0]:
                self._end()
                return Answer(refused=f"did not end within {_LIMIT_S:g} s", crashed=True)
            reply = pickle.load(process.stdout)
        except (EOFError, BrokenPipeError):
            code = process.wait()
            self._end()
            ending = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
            return Answer(refused=f"{ending}: {self._said(start)}".rstrip(": "), crashed=True)
        if reply[0] == "refused":
            return Answer(refused=self._said(start) or reply[1])
        return Answer(reply[1], reply[2])

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(_CHILD), self.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
            )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _said(self, start: int) -> str:
        """The first error line on standard error after position `start`, without the runtime's own paths."""
        self._log.seek(start)
        lines = (line.strip() for line in self._log.read().decode("utf-8", "replace").splitlines())
        useful = [line for line in lines if line and not line.startswith(_NOISE)]
        return useful[0].rpartition("tensorflow/")[2][:_SHOWN_REASON] if useful else ""
