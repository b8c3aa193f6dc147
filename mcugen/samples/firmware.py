"""Front ends in firmware: the graph that turns the samples or pixels of a sensor into the input of a network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.ir.types import QuantParams, Shape, TensorType
from mcugen.ops.quantize import Quantize
from mcugen.ops.transpose import Transpose
from mcugen.samples import identity, preprocess
from mcugen.samples.column import Column
from mcugen.samples.fit import fit
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.identity import Identity
from mcugen.samples.preprocess import IMAGE, MOTION, NUMBER, SOUND, Plan, StepError
from mcugen.samples.spectra import Windows, windows_of

OPTION = "--raw"
_FORM = re.compile(r"(\d{1,8}(?:x\d{1,6}){0,3})(?::(s8|u8|s16|s32|f32)(?:/(\d{1,9}))?)?(?:@(\d{1,7}))?")
_SCALES = {"s8": QuantParams((2.0**-7,), (0,)), "u8": QuantParams((2.0**-7,), (128,))}
_SCALES |= {"s16": QuantParams((2.0**-15,), (0,)), "s32": QuantParams((2.0**-31,), (0,))}
"""Element type -> the scale and zero point that turn stored integers into sounds from -1 to 1."""


@dataclass(frozen=True)
class Sensor:
    """A sensor for one kind of samples.

    dtype: the usual element type. label: name of the model's input; "": the network's name for it. what: the data, and
    form: how to write --raw, for errors.
    """

    dtype: str
    label: str = ""
    what: str = ""
    form: str = ""


_CHANNELS = "give samples, channels if there are several, and the rate"
_SENSORS = {
    SOUND: Sensor("s16", "samples", "a sound", f"{_CHANNELS}: 16000@16000 or 48000x2@48000"),
    MOTION: Sensor("s16", "samples", "motion data", f"{_CHANNELS}: 100x3:s16@50"),
    IMAGE: Sensor("u8", "pixels", "an image of bytes", "give columns, rows and 1 or 3 channels, such as 160x120x3:u8"),
    NUMBER: Sensor("f32"),
}
_WITH_SIZES = ("gray", "rgb", "resize", "crop", "rotate")
"""Words after which the size of the camera's image does not follow from the network."""


@dataclass(frozen=True)
class SensorInput:
    """The input that a sensor gives.

    shape: [time], [time, channels] or [height, width, channels]. rate: Hz of sounds and motion, or 0.
    divisor: number by which stored integers are divided; 0: the usual divisor for sounds, no division for other data.
    """

    shape: Shape
    dtype: str
    rate: int = 0
    divisor: int = 0


def graph_for(plan: Plan, text: str, network: Graph, *, by_windows: bool = False) -> Graph:
    """The graph from a sensor's data to the input of a network. Raises UsageError.

    text: the value of --raw, as SHAPE[:TYPE][@RATE]; "": derived from the words of --preprocess and the network.
    by_windows: the graph makes features of one window of samples, for a stream; see `hop_of`.
    """
    if len(network.inputs) != 1:
        message = f"needs a model with one input, but this one has {len(network.inputs)}"
        raise UsageError(message, where=preprocess.WHERE, hint="prepare the inputs in your own code")
    taken = network.tensors[network.inputs[0]]
    candidates = [_window(plan, text)] if by_windows else list(_candidates(plan, text, taken.type))
    examples, fault = [], None
    for raw in candidates:
        try:
            front, y = _worded(_in_window(plan, raw) if by_windows else plan, raw)
        except StepError as error:
            fault = fault or error
            continue
        if len(candidates) == 1 or front.type(y).size == taken.type.size:
            return _built(front, y, plan, raw, network)
        examples.append(f"{raw.shape[0]} make {list(front.type(y).shape)}")
    if fault and not examples:
        hint = f"correct {fault.step!r}, or say what the sensor gives: {OPTION} SHAPE:TYPE@RATE"
        raise UsageError(str(fault), where=preprocess.WHERE, hint=hint) from fault
    raise UsageError(
        f"no number of samples gives the network's input {list(taken.type.shape)}: {examples[0]}",
        where=preprocess.WHERE,
        hint=f"add length=... to the words, or give {OPTION} SAMPLES@RATE",
    )


def hop_of(plan: Plan, text: str) -> tuple[int, int]:
    """(numbers from a window to the next, numbers per second) in a stream; a sample has a number for each channel.

    Raises UsageError.
    """
    raw = _window(plan, text)
    window, hop = _windows(plan).sizes(raw.rate)[:2]
    if hop > window:
        hint = f"give a hop of at most {window}, or use --input-mode whole"
        raise UsageError(f"a hop of {hop} skips samples: a window has {window}", where=preprocess.WHERE, hint=hint)
    channels = prod(raw.shape[1:])
    return hop * channels, raw.rate * channels


def _windows(plan: Plan) -> Windows:
    """The windows into which the words of --preprocess cut the samples. Raises UsageError if no word does."""
    found = windows_of(plan)
    if found is None:
        hint = "add spectrogram, logmel, mfcc or windows to the words, or use --input-mode whole"
        raise UsageError("a stream of samples needs words that make windows", where=preprocess.WHERE, hint=hint)
    return found


def _window(plan: Plan, text: str) -> SensorInput:
    """One window of samples, of the rate and type that the value of --raw states. Raises UsageError."""
    windows = _windows(plan)
    if plan.kind == MOTION and not text:
        raise _without_channels()
    given = _given(plan, text) if text else SensorInput((), _SENSORS[plan.kind].dtype, plan.rate)
    if not given.rate:
        raise _without_rate()
    try:
        window = windows.sizes(given.rate)[0]
    except ValueError as error:
        raise UsageError(str(error), where=preprocess.WHERE, hint="correct window=... of the words") from error
    channels = given.shape[1:] if plan.kind == MOTION else ()
    if given.shape not in ((), (window, *channels)):
        shape = "x".join(map(str, (window, *channels)))
        hint = f"give {OPTION} {shape}@{given.rate}{', or leave it out' if plan.kind == SOUND else ''}"
        raise UsageError(f"a stream takes the {window} samples of a window", where=OPTION, hint=hint)
    return replace(given, shape=(window, *channels))


def _in_window(plan: Plan, raw: SensorInput) -> Plan:
    """The words for one window: without `length`, and without a `rate` that changes nothing. Raises UsageError."""
    steps = [s for s in plan.steps if s.name != "length" and (s.name, s.value) != ("rate", raw.rate)]
    for step in steps:
        if step.word.spans:
            hint = f"leave out {step.text!r}, or use --input-mode whole"
            raise UsageError(
                f"{step.text!r} needs samples of several windows, which a stream does not keep",
                where=preprocess.WHERE,
                hint=hint,
            )
    return Plan(tuple(steps))


def _without_rate() -> UsageError:
    hint = f"add rate=16000 to the words, or give {OPTION} SAMPLES@RATE"
    return UsageError("the rate of the samples is not known", where=preprocess.WHERE, hint=hint)


def _without_channels() -> UsageError:
    hint = f"give it, such as {OPTION} 100x3:s16@50 for 100 samples of 3 channels, 50 a second"
    return UsageError("the number of channels is not known", where=preprocess.WHERE, hint=hint)


def _candidates(plan: Plan, text: str, taken: TensorType) -> Iterator[SensorInput]:
    """The inputs that the sensor may give: the one that `text` states, else all that could make the network's input."""
    if plan.frame is not None:
        yield _of_camera(plan, plan.frame, text)
        return
    dtype = _SENSORS[plan.kind].dtype
    if text:
        yield _given(plan, text)
    elif plan.kind == MOTION:
        raise _without_channels()
    elif plan.kind == SOUND:
        if not plan.rate:
            raise _without_rate()
        yield from (SensorInput((n,), dtype, plan.rate) for n in dict.fromkeys(_lengths(plan, taken)))
    elif any(step.name in _WITH_SIZES for step in plan.steps):
        hint = f"give it, such as {OPTION} 160x120x3 for 160 columns, 120 rows and 3 channels"
        raise UsageError("the size of the camera's images is not known", where=preprocess.WHERE, hint=hint)
    else:
        yield SensorInput(_natural(plan, taken.shape[1:] if taken.shape[:1] == (1,) else taken.shape), dtype)


def _of_camera(plan: Plan, frame: Shape, text: str) -> SensorInput:
    """The bytes that the camera word of --preprocess takes. Raises UsageError if --raw states another number."""
    given = _FORM.fullmatch(text) if text else None
    if text and (given is None or given[2] not in (None, "u8") or prod(map(int, given[1].split("x"))) != prod(frame)):
        word = plan.steps[0].text
        message = f"{text!r} does not fit {word!r}, which takes {prod(frame):,} bytes, {list(frame)}"
        raise UsageError(message, where=OPTION, hint=f"leave {OPTION} out, or correct the size in the word")
    return SensorInput(frame, "u8")


def _natural(plan: Plan, shape: Shape) -> Shape:
    """The shape of a sample before the word nchw or nhwc of --preprocess moves its axes. shape: after the move."""
    if len(shape) < 2 or not plan.axes:
        return shape
    return (*shape[1:], shape[0]) if plan.axes == "nchw" else (shape[-1], *shape[:-1])


def _lengths(plan: Plan, taken: TensorType) -> Iterator[int]:
    """Numbers of samples that could make the network's input: the word `length`, whole windows, the input's size."""
    yield from (step.value.samples(plan.rate) for step in plan.of(SOUND) if step.name == "length")
    windows = windows_of(plan)
    if windows is not None:
        window, hop = windows.sizes(plan.rate)[:2]
        yield from (window + (count - 1) * hop for count in sorted(set(taken.shape), reverse=True))
    yield taken.size


def _given(plan: Plan, text: str) -> SensorInput:
    """The input that the value of --raw states. Raises UsageError if it does not fit the words."""
    form = _FORM.fullmatch(text)
    if form is None:
        hint = "write SHAPE[:TYPE[/N]][@RATE], such as 16000@16000, 100x3:s16/8192@50 or 160x120x3:u8"
        raise UsageError(f"{text!r} does not describe a sensor's data", where=OPTION, hint=hint)
    sensor, shape = _SENSORS[plan.kind], tuple(int(d) for d in form[1].split("x"))
    dtype, rate = form[2] or sensor.dtype, int(form[4] or plan.rate)
    fits = {
        SOUND: len(shape) <= 2 and rate > 0,
        MOTION: len(shape) <= 2,
        IMAGE: len(shape) == 3 and shape[2] in (1, 3) and dtype == "u8",
    }
    if not fits.get(plan.kind, True):
        raise UsageError(f"{text!r} does not describe {sensor.what}", where=OPTION, hint=sensor.form)
    if plan.kind == IMAGE:
        shape = (shape[1], shape[0], shape[2])
    if not all(shape):
        raise UsageError(f"{text!r} has an axis without elements", where=OPTION, hint="give sizes from 1")
    divisor = int(form[3] or 0)
    if form[3] and (not divisor or dtype == "f32" or plan.kind not in (SOUND, MOTION)):
        hint = f"leave out '/{form[3]}', or give integers of sounds or motion, such as 100x3:s16/8192@50"
        raise UsageError(f"{text!r}: only integers are divided, by a number above 0", where=OPTION, hint=hint)
    return SensorInput(shape, dtype, rate, divisor)


def _worded(plan: Plan, raw: SensorInput) -> tuple[FrontEnd, str]:
    """A front end with all words but the order of axes, and its result. Raises StepError."""
    quant = _SCALES.get(raw.dtype) if plan.kind == SOUND else None
    if raw.dtype != "f32" and (raw.divisor or plan.kind == MOTION):
        quant = QuantParams((float(np.float32(1 / max(raw.divisor, 1))),), quant.zero_point if quant else (0,))
    channels = len(raw.shape) if plan.kind == IMAGE else {"nchw": len(raw.shape), "nhwc": 1}.get(plan.axes)
    front = FrontEnd(TensorType((1, *raw.shape), raw.dtype, quant), raw.rate, channels)
    x = front.real(front.given) if plan.kind == SOUND else front.given
    return front, preprocess.appended(front, x, plan.steps)


def _built(front: FrontEnd, y: str, plan: Plan, raw: SensorInput, network: Graph) -> Graph:
    """The graph of a front end with the result y, in the order of axes and the type that the network takes."""
    taken, t = network.tensors[network.inputs[0]], front.type(y)
    if front.frames and taken.type.size % t.size:
        message = f"the words make {list(t.shape[1:])} numbers of {list(raw.shape)} samples, but the network takes "
        hint = f"check the channels of {OPTION}, and give the words that the network was trained with"
        raise UsageError(message + str(list(taken.type.shape)), where=preprocess.WHERE, hint=hint)
    if not front.has_windows or taken.type.size % t.size or t.size == taken.type.size:
        channels = 2 if plan.kind == IMAGE else None
        column = Column(preprocess.WHERE, 1, t.shape[1:], lambda n: iter(()), channels)
        order = fit(column, TensorType(taken.type.shape, "f32"), plan).order
        perm = (0, *(axis + 1 for axis in order))
        y = y if perm == tuple(range(len(perm))) else front.node(Transpose(perm), y)
    y = _stored(front, front.real(y) if front.frames else y, taken.type)
    found = front.graph(y, _SENSORS[plan.kind].label or taken.label)
    what = f"the input is what --preprocess takes, {front.type(front.given)}"
    made = identity.of(plan, raw.rate)
    identity.require_same(made.sha256, preprocess.WHERE, network.features, network.name)
    facts = _facts(plan, raw, made, t, front.rate)
    return replace(found, format=network.format, unlike_file=(what,), notes=(what,), front_end=facts)


def _facts(plan: Plan, raw: SensorInput, made: Identity, t: TensorType, rate: float) -> Mapping[str, object]:
    """The facts of a front end, for features.json. rate: Hz of the samples of a window, after all words."""
    facts: dict[str, object] = {
        "words": made.words,
        "sha256": made.sha256,
        "arithmetic": made.arithmetic,
        "input": {"shape": list(raw.shape), "type": raw.dtype},
        "features": {"shape": list(t.shape[1:]), "type": t.dtype},
    }
    if plan.kind in (SOUND, MOTION):
        facts |= {"input": {"shape": list(raw.shape), "type": raw.dtype, "rate": raw.rate}, "rate": round(rate)}
    if raw.divisor:
        facts["divisor"] = raw.divisor
    windows = windows_of(plan)
    if windows is not None:
        facts |= zip(("window", "hop", "points"), windows.sizes(rate), strict=False)
    return facts


def _stored(front: FrontEnd, y: str, taken: TensorType) -> str:
    """The result as the network stores its input. Raises UsageError."""
    t = front.type(y)
    if taken.is_float:
        return front.real(y)
    if t.is_float and taken.quant is not None and not taken.quant.per_channel:
        return front.node(Quantize(taken.dtype), y, quant=taken.quant)
    if t.dtype == taken.dtype:
        return y
    hint = "the words must end with numbers for a quantized input: add scale=... or logmel(...)"
    raise UsageError(f"the words make {t}, but the network takes {taken}", where=preprocess.WHERE, hint=hint)
