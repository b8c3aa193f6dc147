"""Models from the tool that trained them: each function writes a model file through the tool's own exporter.

What they return is the path of that file, which `compile`, `load` and the command line take. The tools are imported
here only, when asked for; `pip install mcugen[sklearn]` and the like install their exporters.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcugen.errors import ToolError, UsageError

_TOOLS = {
    "torch": "torch",
    "tensorflow": "keras",
    "skl2onnx": "sklearn",
}
"""Module of an exporter -> the extra of mcugen that installs it."""

_HINT = "see the tool's own list of what it exports"


class _Kept:
    """The folder of files that nobody named; it goes when Python ends."""

    folder: Path | None = None


def from_torch(module: Any, example: Any, *, to: str | os.PathLike[str] | None = None) -> Path:
    """A PyTorch module as .onnx, in evaluation mode. example: an input, or a tuple of several, as forward takes them.

    to: the file to write; by default one in a folder that goes when Python ends. Raises ToolError, UsageError.
    """
    torch = _tool("torch")
    inputs = example if isinstance(example, tuple) else (example,)
    path = _path(to, type(module).__name__, ".onnx")
    was_training = module.training
    module.eval()
    try:
        _exported("torch.onnx.export", lambda: torch.onnx.export(module, inputs, str(path), dynamo=False))
    finally:
        module.train(was_training)
    return path


def from_keras(model: Any, *, to: str | os.PathLike[str] | None = None) -> Path:
    """A Keras model as .tflite, in floats; `mcugen quantize` makes integers of it. to: see `from_torch`."""
    tf = _tool("tensorflow")
    path = _path(to, getattr(model, "name", "") or "model", ".tflite")
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    path.write_bytes(_exported("TFLiteConverter", converter.convert))
    return path


def from_sklearn(estimator: Any, *, to: str | os.PathLike[str] | None = None) -> Path:
    """A fitted scikit-learn estimator or pipeline of float features as .onnx. to: see `from_torch`.

    A classifier gives its label and an array of scores, one for each class.
    """
    skl2onnx, types = _tool("skl2onnx"), _tool("skl2onnx.common.data_types")
    features = [("x", types.FloatTensorType([1, _features(estimator)]))]
    options = {id(estimator): {"zipmap": False}} if hasattr(estimator, "predict_proba") else None
    path = _path(to, type(estimator).__name__, ".onnx")
    made = _exported("skl2onnx", lambda: skl2onnx.convert_sklearn(estimator, initial_types=features, options=options))
    path.write_bytes(made.SerializeToString())
    return path


def from_xgboost(model: Any, *, to: str | os.PathLike[str] | None = None) -> Path:
    """A trained XGBoost model as .onnx: a Booster, or a fitted one of the scikit-learn interface. to: see `from_torch`.

    Of one that stopped early, the trees up to the best iteration, as its `predict` uses them. Raises McugenError.
    """
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = getattr(model, "best_iteration", None) if _stopped_early(booster) else None
    part = booster if best is None else booster[: best + 1]
    return _boosted("xgboost", bytes(part.save_raw("json")), model, to)


def _stopped_early(booster: Any) -> bool:
    return "best_iteration" in booster.attributes()


def from_lightgbm(model: Any, *, to: str | os.PathLike[str] | None = None) -> Path:
    """A trained LightGBM model as .onnx: a Booster, or one of the scikit-learn interface. to: see `from_torch`.

    Of one that stopped early, the trees up to the best iteration, as its `predict` uses them. Raises McugenError.
    """
    booster = getattr(model, "booster_", model)
    return _boosted("lightgbm", booster.model_to_string().encode(), model, to)


def _boosted(reader: str, saved: bytes, model: Any, to: str | os.PathLike[str] | None) -> Path:
    """The ONNX file of a saved model, by the reader of its format."""
    path = _path(to, type(model).__name__, ".onnx")
    path.write_bytes(importlib.import_module(f"mcugen.frontends.{reader}").as_onnx(saved, path.stem))
    return path


def _features(model: Any) -> int:
    """How many features a fitted model takes. Raises UsageError where it does not say."""
    for name in ("n_features_in_", "num_feature"):
        found = getattr(model, name, None)
        if found is not None:
            return int(found() if callable(found) else found)
    raise UsageError(f"{type(model).__name__} does not say how many features it takes", hint="fit it first")


def _tool(name: str) -> Any:
    """A module of an exporter. Raises ToolError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        extra = _TOOLS[name.partition(".")[0]]
        raise ToolError(f"{name} cannot be imported: {error}", hint=f"pip install 'mcugen[{extra}]'") from error


def _exported(tool: str, export: Callable[[], Any]) -> Any:
    """What an exporter gives. Raises ToolError with its own words where it fails, in whatever way it does."""
    try:
        return export()
    except Exception as error:  # an exporter raises what it likes
        raise ToolError(f"{tool} failed: {type(error).__name__}: {error}", hint=_HINT) from error


def _path(to: str | os.PathLike[str] | None, stem: str, suffix: str) -> Path:
    """The file to write. Raises UsageError for a name that ends otherwise."""
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
