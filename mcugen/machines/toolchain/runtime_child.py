"""The program that `mcugen.machines.toolchain.runtimes` starts. It runs models in one of the external runtimes.

usage: runtime_child.py tflm|litert|ort

It reads pickled requests (model, input sets, keys of further tensors, whether states persist) from standard input, and
writes a pickled reply for each. A runtime may abort the process, so nothing else runs in it.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import numpy as np

Arrays = list[np.ndarray]
Results = tuple[list[Arrays], list[dict[int, np.ndarray]]]
"""Per input set: the graph's outputs, and the requested tensors by index."""
ARENA_BYTES = 1 << 22
MAX_ARENA_BYTES = 1 << 28
_NO_OPERATOR = "Didn't find op"
_NO_ROOM = ("Failed to allocate", "Failed to resize buffer")


def tflm(model: bytes, sets: Sequence[Arrays], tensors: Sequence[int], follow: bool) -> Results:
    """The outputs of TensorFlow Lite Micro for each input set, and the tensors with these indices.

    follow: whether each set continues from the states that the previous set left.
    """
    outputs, inner = [], []
    interpreter = _tflm_interpreter(model, bool(tensors))
    for arrays in sets:
        if not follow:
            interpreter = _tflm_interpreter(model, bool(tensors))
        for k, array in enumerate(arrays):
            interpreter.set_input(array, k)
        interpreter.invoke()
        outputs.append(_until_index_error(interpreter.get_output))
        inner.append({k: np.array(interpreter.GetTensor(k, 0)["tensor_data"]) for k in tensors})
    return outputs, inner


def _tflm_interpreter(model: bytes, preserve: bool) -> Any:
    """An interpreter with a large enough arena. Sizes are tried, since the library does not report the size needed."""
    from tflite_micro.python.tflite_micro import runtime

    keep = runtime.InterpreterConfig
    config = keep.kPreserveAllTensors if preserve else keep.kAllocationRecording
    size = max(ARENA_BYTES, 4 * len(model))
    while True:
        try:
            return runtime.Interpreter.from_bytes(model, arena_size=size, intrepreter_config=config)
        except RuntimeError:
            if size >= MAX_ARENA_BYTES or not _said_no_room():
                raise
            size *= 4


def _until_index_error(get: Callable[[int], np.ndarray]) -> Arrays:
    """get(0), get(1), ... until IndexError. The library does not report how many outputs there are."""
    found: Arrays = []
    while True:
        try:
            found.append(np.array(get(len(found))))
        except IndexError:
            return found


def _said_no_room() -> bool:
    """Whether the last lines on standard error are about memory. The exception itself gives no reason."""
    with os.fdopen(os.open("/proc/self/fd/2", os.O_RDONLY), "rb") as log:
        log.seek(max(0, os.fstat(log.fileno()).st_size - 2000))
        return any(words in log.read().decode("utf-8", "replace") for words in _NO_ROOM)


def litert(model: bytes, sets: Sequence[Arrays], tensors: Sequence[int], follow: bool) -> Results:
    """The outputs of LiteRT's reference kernels for each input set, and the tensors with these indices.

    follow: whether each set continues from the states that the previous set left.
    """
    interpreter = _litert_interpreter(model, bool(tensors))
    keeps = any(
        entry["op_name"] == "VAR_HANDLE" for entry in interpreter._get_ops_details()
    )  # reset_all_variables does not clear these
    outputs, inner = [], []
    for arrays in sets:
        if keeps and not follow:
            interpreter = _litert_interpreter(model, bool(tensors))
        elif not follow:
            interpreter.reset_all_variables()
        for detail, array in zip(interpreter.get_input_details(), arrays, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        outputs.append([interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()])
        inner.append({k: interpreter.get_tensor(k) for k in tensors})
    return outputs, inner


def _litert_interpreter(model: bytes, preserve: bool) -> Any:
    """An interpreter with reference kernels, or with optimized kernels if some operator has no reference kernel."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kernels = (OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    for kind in kernels:
        try:
            interpreter = Interpreter(
                model_content=model,
                experimental_op_resolver_type=kind,
                experimental_preserve_all_tensors=preserve,
                num_threads=1,
            )
            interpreter.allocate_tensors()
        except (RuntimeError, ValueError) as error:
            if kind is kernels[-1] or _NO_OPERATOR not in str(error):
                raise
        else:
            return interpreter
    raise RuntimeError("no kernels")


def ort(model: bytes, sets: Sequence[Arrays], tensors: Sequence[str], follow: bool) -> Any:
    """ONNX Runtime's outputs for each input set. If `tensors` names the outputs, they are returned by name instead.

    Optimisations are off, with one thread, so that operators are computed as the file states. Raises RuntimeError for
    any exception of the library.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    outputs, inner = [], []
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        ends = session.get_inputs()
        for arrays in sets:
            given = {end.name: _half(a, end.type) for end, a in zip(ends, arrays, strict=True)}
            results = session.run(None, given)
            outputs.append([] if tensors else results)
            inner.append(dict(zip(tensors, results, strict=False)))
    except Exception as error:
        raise RuntimeError(str(error)) from error
    return outputs, inner


def _half(a: np.ndarray, kind: str) -> np.ndarray:
    """Input data in the file's type: float16 if the file declares it."""
    return a.astype(np.float16) if kind == "tensor(float16)" else a


RUNTIMES: dict[str, Callable[..., Any]] = {"tflm": tflm, "litert": litert, "ort": ort}


def serve(run: Callable[..., Any], requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are none. A reply is ("done", outputs, tensors) or ("refused", reason)."""
    while True:
        try:
            model, sets, tensors, follow = pickle.load(requests)
        except EOFError:
            return
        try:
            reply: tuple[Any, ...] = ("done", *run(model, sets, tensors, follow))
        except (RuntimeError, ValueError) as error:
            reply = ("refused", str(error))
        pickle.dump(reply, replies)
        replies.flush()


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the runtimes must not mix with the replies
    serve(RUNTIMES[sys.argv[1]], sys.stdin.buffer, answers)
