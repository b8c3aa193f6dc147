"""Models from training tools: each function writes a model file through the tool's own exporter.

Each returns the path of the file, which `compile`, `load` and the command line accept. A tool is imported only when its
function is called. `pip install mcugen[sklearn]`, for example, installs the exporter for scikit-learn.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from mcugen.errors import ToolError, UsageError

_TOOLS = {
    "torch": "torch",
    "tensorflow": "keras",
    "skl2onnx": "sklearn",
}
"""Module of an exporter -> the extra of mcugen that installs it: `pip install mcugen[EXTRA]`."""

_HINT = "check in the tool's documentation that it can export this model"

_KERAS_HINT = (
    "begin the model with keras.Input, or call it once; for a class of your own: x = keras.Input(...), "
    "keras.Model(x, model(x))"
)

Shapes = Sequence[int] | Mapping[str, Sequence[int]]
"""The shape of a model's only input, or a dict of shapes by input name."""

_EXPORTERS = ("torchscript", "dynamo")
"""The exporters of torch.onnx.export, in the order tried. torchscript runs an example, and exports only the Python
branches that the example takes.
"""

_BRANCH_HINT = (
    "write the branch with torch.where or torch.cond; if it does not depend on the input, "
    'exporter="torchscript" exports the branch that the example takes'
)


class _Kept:
    """Holds the temporary folder for files without a given path. It is removed when Python ends."""

    folder: Path | None = None


def from_torch(
    module: Any,
    example: Any,
    *,
    to: str | os.PathLike[str] | None = None,
    exporter: Literal["torchscript", "dynamo"] | None = None,
    opset: int | None = None,
    input_names: Sequence[str] = (),
    output_names: Sequence[str] = (),
    dynamic_axes: Mapping[str, Any] | None = None,
) -> Path:
    """Exports a PyTorch module as .onnx, in evaluation mode.

    example: the arguments of forward, as tensors or NumPy arrays: one input, a tuple of inputs, or a dict by parameter
    name. to: the file to write; by default a file in a temporary folder that is removed when Python ends. exporter: by
    default TorchScript's is tried first, and dynamo if it fails or would leave out a branch of forward.

    The other arguments are those of torch.onnx.export. Raises ToolError, UsageError.
    """
    _check_module(module)
    torch = _tool("torch")
    if exporter not in (None, *_EXPORTERS):
        raise UsageError(
            f"there is no exporter {exporter!r}", where="exporter", hint=f"choose one of {list(_EXPORTERS)}"
        )
    path = _path(to, type(module).__name__, ".onnx")
    positional, named = _inputs(torch, module, example)
    options = {
        "kwargs": named or None,
        "opset_version": opset,
        "input_names": list(input_names) or None,
        "output_names": list(output_names) or None,
        "dynamic_axes": dynamic_axes,
        "verbose": False,
        "external_data": False,
    }
    given = {name: value for name, value in options.items() if value is not None}
    was_training = module.training
    module.eval()
    try:
        _torch_exported(
            [exporter] if exporter else _EXPORTERS,
            lambda which: torch.onnx.export(module, positional, str(path), dynamo=which == "dynamo", **given),
        )
    except ToolError:
        path.unlink(missing_ok=True)  # the file would contain only the branches that the example takes
        _check_example(module, positional, named)
        raise
    finally:
        module.train(was_training)
    return path


def _check_module(module: Any) -> None:
    """Raise UsageError for an object that is not a module. The hint states how to make one."""
    _check_no_path(module, "from_torch", "give the module: torch.load reads files of PyTorch")
    if isinstance(module, Mapping):
        why, hint = "a state_dict holds weights and no network", "give the module, after module.load_state_dict(it)"
    elif isinstance(module, type):
        why, hint = f"{module.__name__} is a class", f"give an instance, {module.__name__}(...), with its weights"
    elif not (hasattr(module, "eval") and hasattr(module, "training")):
        why, hint = f"{type(module).__name__} is not a torch.nn.Module", "wrap it in a module whose forward calls it"
    else:
        return
    raise UsageError(why, where="from_torch", hint=hint)


def _check_no_path(model: Any, where: str, hint: str) -> None:
    """Raise UsageError if a file name is given instead of the model."""
    if isinstance(model, str | os.PathLike):
        raise UsageError(f"{os.fspath(model)!r} names a file", where=where, hint=hint)


def _check_example(module: Any, positional: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise UsageError if the module itself fails on the example, in which case the exporter is not to blame."""
    try:
        module(*positional, **named)
    except Exception as error:  # a module's forward may raise any exception
        given = ", ".join(str(list(getattr(value, "shape", ()))) for value in (*positional, *named.values()))
        raise UsageError(
            f"the example does not fit the module, whose forward fails on it: {_words(error)}",
            where="example",
            hint=f"give the inputs of forward, batch dimension included; the shapes given are {given}",
        ) from error


def _inputs(torch: Any, module: Any, example: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and named inputs as tensors. NumPy floats get the element type of the module's first weights.

    Raises UsageError if the example is a shape instead of a tensor.
    """
    if isinstance(example, tuple | list) and example and all(isinstance(size, int) for size in example):
        sizes = ", ".join(str(size) for size in example)
        raise UsageError(
            f"({sizes}) is a shape", where="example", hint=f"give a tensor of that shape: torch.zeros({sizes})"
        )
    weights = next((p for p in getattr(module, "parameters", lambda: ())() if p.is_floating_point()), None)

    def tensor(value: Any) -> Any:
        if type(value).__module__ != "numpy":
            return value
        floats = torch.float32 if weights is None else weights.dtype
        dtype = floats if value.dtype.kind == "f" else None
        return torch.as_tensor(value, dtype=dtype, device=None if weights is None else weights.device)

    if isinstance(example, Mapping):
        return (), {name: tensor(value) for name, value in example.items()}
    several = example if isinstance(example, tuple) else (example,)
    return tuple(tensor(value) for value in several), {}


def _torch_exported(exporters: Sequence[str], export: Callable[[str], Any]) -> None:
    """Write the file with the first exporter that succeeds.

    An export by TorchScript counts as failed if it turned tensors into Python values and another exporter is left to
    try: its file would contain only the branches that the example takes. Raises ToolError with the error of each
    exporter.
    """
    failures: list[str] = []
    baked = ""
    for which in exporters:
        with warnings.catch_warnings(record=len(exporters) > 1) as seen:
            if len(exporters) > 1:
                warnings.simplefilter("always")
            try:
                _exported(which, partial(export, which))
            except ToolError as error:
                failures.append(f"{which}: {_words(error)}")
                continue
        baked = next((_place(w) for w in seen or () if w.category.__name__ == "TracerWarning"), "")
        if not baked:
            return
        failures.append(f"{which}: forward turns a tensor into a Python value in {baked}")
    raise ToolError("torch.onnx.export failed\n  " + "\n  ".join(failures), hint=_BRANCH_HINT if baked else _HINT)


def _place(warning: warnings.WarningMessage) -> str:
    return f"{Path(warning.filename).name}, line {warning.lineno}"


def _words(error: BaseException) -> str:
    """The type and first line of the error's first cause. Exporters wrap errors in pages of advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first.strip()}"


def from_keras(model: Any, *, to: str | os.PathLike[str] | None = None, input_shape: Shapes | None = None) -> Path:
    """Exports a Keras model as .tflite, in float, for a batch of 1. `mcugen quantize` then makes it an integer model.

    to: see `from_torch`. input_shape: shapes of inputs that leave sizes other than the batch open: one shape, batch
    included, or a dict by input name. Raises ToolError, UsageError.
    """
    _check_no_path(model, "from_keras", f"load it first: keras.models.load_model({str(model)!r})")
    tf = _tool("tensorflow")
    path = _path(to, getattr(model, "name", "") or "model", ".tflite")
    ends = getattr(model, "inputs", None)
    if not ends:
        raise UsageError("the model does not know its inputs yet", where="from_keras", hint=_KERAS_HINT)
    shapes = _keras_shapes(ends, input_shape)

    def convert() -> bytes:
        named = zip(shapes.items(), ends, strict=True)
        fixed = [tf.keras.Input(batch_shape=shape, dtype=end.dtype, name=name) for (name, shape), end in named]
        given = fixed[0] if len(fixed) == 1 else tf.nest.pack_sequence_as(model.input, fixed)
        whole = tf.keras.Model(fixed, model(given))
        return bytes(tf.lite.TFLiteConverter.from_keras_model(whole).convert())

    path.write_bytes(_exported("TFLiteConverter", convert))
    return path


def _keras_shapes(ends: Sequence[Any], given: Shapes | None) -> dict[str, tuple[int, ...]]:
    """The shape of each input by its name. Raises UsageError for sizes left open, and for shapes of unknown inputs."""
    names = [end.name for end in ends]
    shapes = dict(given if isinstance(given, Mapping) else {names[0]: given} if given is not None else {})
    if set(shapes) - set(names) or (len(ends) > 1 and given is not None and not isinstance(given, Mapping)):
        raise UsageError("these are not the shapes of the model's inputs", where="input_shape", hint=f"inputs: {names}")
    return {end.name: _keras_shape(end, shapes.get(end.name)) for end in ends}


def _keras_shape(end: Any, given: Sequence[int] | None) -> tuple[int, ...]:
    """The shape of an input for a batch of 1, or as given. Raises UsageError if sizes stay open or do not fit the
    model.
    """
    declared = (1, *end.shape[1:])
    shape = tuple(size or 0 for size in declared) if given is None else tuple(given)
    fits = len(shape) == len(declared) and all(s == d for s, d in zip(shape, declared, strict=True) if d)
    if fits and min(shape) > 0:
        return shape
    raise UsageError(
        f"input {end.name!r} {[size or '?' for size in declared]}: "
        + ("has sizes that the model leaves open" if given is None else f"{list(shape)} does not fit it"),
        where="input_shape",
        hint=f"give the shape for a batch of 1, e.g. input_shape={tuple(size or 96 for size in declared)}",
    )


def from_sklearn(estimator: Any, *, to: str | os.PathLike[str] | None = None) -> Path:
    """Exports a fitted scikit-learn estimator or pipeline with float features as .onnx. to: see `from_torch`.

    A classifier has two outputs: its label, and an array of scores, one per class. Raises ToolError, UsageError.
    """
    _check_no_path(estimator, "from_sklearn", f"load it first, where you trust it: joblib.load({str(estimator)!r})")
    skl2onnx, types = _tool("skl2onnx"), _tool("skl2onnx.common.data_types")
    features = [("x", types.FloatTensorType([1, _features(estimator)]))]
    options = {id(estimator): {"zipmap": False}} if hasattr(estimator, "predict_proba") else None
    path = _path(to, type(estimator).__name__, ".onnx")
    made = _exported("skl2onnx", lambda: skl2onnx.convert_sklearn(estimator, initial_types=features, options=options))
    path.write_bytes(made.SerializeToString())
    return path


def from_xgboost(model: Any, *, to: str | os.PathLike[str] | None = None) -> Path:
    """Exports a trained XGBoost model as .onnx: a Booster, or a fitted scikit-learn style model. to: see `from_torch`.

    If training stopped early, only the trees up to the best iteration are exported, which its `predict` uses. Raises
    McugenError.
    """
    _check_no_path(model, "from_xgboost", f"mcugen reads files of XGBoost itself: mcugen.compile({str(model)!r})")
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = getattr(model, "best_iteration", None) if _stopped_early(booster) else None
    part = booster if best is None else booster[: best + 1]
    from mcugen.formats.xgboost.read import as_onnx  # imported on first use, as `import mcugen` stays quick

    return _boosted(as_onnx, bytes(part.save_raw("json")), model, to)


def _stopped_early(booster: Any) -> bool:
    return "best_iteration" in booster.attributes()


def from_lightgbm(model: Any, *, to: str | os.PathLike[str] | None = None) -> Path:
    """Exports a trained LightGBM model as .onnx: a Booster, or a scikit-learn style model. to: see `from_torch`.

    If training stopped early, only the trees up to the best iteration are exported, which its `predict` uses. Raises
    McugenError.
    """
    _check_no_path(model, "from_lightgbm", f"mcugen reads files of LightGBM itself: mcugen.compile({str(model)!r})")
    booster = getattr(model, "booster_", model)
    from mcugen.formats.lightgbm.read import as_onnx

    return _boosted(as_onnx, booster.model_to_string().encode(), model, to)


def _boosted(
    as_onnx: Callable[[bytes, str], bytes], saved: bytes, model: Any, to: str | os.PathLike[str] | None
) -> Path:
    """Write a saved model as an ONNX file. as_onnx: converts the saved bytes to ONNX; its second argument names the
    graph.
    """
    path = _path(to, type(model).__name__, ".onnx")
    path.write_bytes(as_onnx(saved, path.stem))
    return path


def _features(model: Any) -> int:
    """The number of features of a fitted model. Raises UsageError if no attribute gives it."""
    for name in ("n_features_in_", "num_feature"):
        found = getattr(model, name, None)
        if found is not None:
            return int(found() if callable(found) else found)
    raise UsageError(f"{type(model).__name__} does not say how many features it takes", hint="fit it first")


def _tool(name: str) -> Any:
    """The module of an exporter. Raises ToolError if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        extra = _TOOLS[name.partition(".")[0]]
        raise ToolError(f"{name} cannot be imported: {error}", hint=f"pip install 'mcugen[{extra}]'") from error


def _exported(tool: str, export: Callable[[], Any]) -> Any:
    """The result of an exporter. Any exception becomes a ToolError with the exporter's message."""
    try:
        return export()
    except Exception as error:  # an exporter may raise any exception
        raise ToolError(f"{tool} failed: {type(error).__name__}: {error}", hint=_HINT) from error


def _path(to: str | os.PathLike[str] | None, stem: str, suffix: str) -> Path:
    """The file to write. Raises UsageError if `to` has another suffix."""
    if to is not None:
        if Path(to).suffix.lower() != suffix:
            raise UsageError(
                f"{str(to)!r} does not end in {suffix}", where="to", hint=f"name it {Path(to).stem}{suffix}"
            )
        return Path(to)
    if _Kept.folder is None:
        kept = tempfile.TemporaryDirectory(prefix="mcugen-")
        weakref.finalize(_Kept, kept.cleanup)
        _Kept.folder = Path(kept.name)
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)
    return Path(tempfile.mkdtemp(dir=_Kept.folder)) / f"{plain.lower() or 'model'}{suffix}"
