"""Front ends in firmware: the graph that turns the samples or pixels of a sensor into the input of a network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.ir.types import QuantParams, Shape, TensorType
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.quantize import Quantize
from mcugen.ops.transpose import Transpose
from mcugen.samples import identity, preprocess
from mcugen.samples.column import Column
from mcugen.samples.fit import fit
from mcugen.samples.front_end import FrontEnd
from mcugen.samples.identity import Identity
from mcugen.samples.preprocess import IMAGE, NUMBER, SOUND, Plan, StepError
from mcugen.samples.spectra import Spectrum, spectrum_of

OPTION = "--raw"
_FORM = re.compile(r"(\d{1,8}(?:x\d{1,6}){0,3})(?::(s8|u8|s16|s32|f32))?(?:@(\d{1,7}))?")
_SCALES = {"s8": QuantParams((2.0**-7,), (0,)), "u8": QuantParams((2.0**-7,), (128,))}
_SCALES |= {"s16": QuantParams((2.0**-15,), (0,)), "s32": QuantParams((2.0**-31,), (0,))}
"""Element type -> the scale and zero point that turn stored integers into sounds from -1 to 1."""
_WITH_SIZES = ("gray", "rgb", "resize", "crop", "rotate")
"""Words after which the size of the camera's image does not follow from the network."""


@dataclass(frozen=True)
class SensorInput:
    """The input that a sensor gives.

    shape: [time], [time, channels] or [height, width, channels]. rate: Hz of sounds, or 0.
    """

    shape: Shape
    dtype: str
    rate: int = 0


def graph_for(plan: Plan, text: str, network: Graph, *, by_windows: bool = False) -> Graph:
    """The graph from a sensor's data to the input of a network. Raises UsageError.

    text: the value of --raw, as SHAPE[:TYPE][@RATE]; "" for what follows from the words and the network.
    by_windows: the graph makes features of one window of samples, for a stream; see `hop_of`.
    """
    if len(network.inputs) != 1:
        message = f"needs a model with one input, but this one has {len(network.inputs)}"
        raise UsageError(message, where=preprocess.WHERE, hint="prepare the inputs in your own code")
    taken = network.tensors[network.inputs[0]]
    kinds = [_window(plan, text)] if by_windows else list(_kinds(plan, text, taken.type))
    examples, fault = [], None
    for raw in kinds:
        try:
            front, y = _worded(_in_window(plan, raw) if by_windows else plan, raw)
        except StepError as error:
            fault = fault or error
            continue
        if len(kinds) == 1 or front.type(y).size == taken.type.size:
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
    """(hop in samples, rate in Hz) of the words' windows in a stream. Raises UsageError."""
    raw = _window(plan, text)
    return _spectrum(plan).sizes(raw.rate)[1], raw.rate


def _spectrum(plan: Plan) -> Spectrum:
    """The windows that the words make. Raises UsageError if they make none."""
    found = spectrum_of(plan)
    if found is None:
        hint = "add spectrogram, logmel or mfcc to the words, or use --input-mode whole"
        raise UsageError("a stream of samples needs words that make windows", where=preprocess.WHERE, hint=hint)
    return found


def _window(plan: Plan, text: str) -> SensorInput:
    """One window of samples, of the rate and type that the value of --raw states. Raises UsageError."""
    spectrum = _spectrum(plan)
    given = _given(text, SOUND, "s16", plan.rate) if text else SensorInput((), "s16", plan.rate)
    if not given.rate:
        raise _without_rate()
    try:
        window = spectrum.sizes(given.rate)[0]
    except ValueError as error:
        raise UsageError(str(error), where=preprocess.WHERE, hint="correct window=... of the words") from error
    if given.shape not in ((), (window,)):
        hint = f"give {OPTION} {window}@{given.rate}, or leave it out"
        raise UsageError(f"a stream takes the {window} samples of a window", where=OPTION, hint=hint)
    return replace(given, shape=(window,))


def _in_window(plan: Plan, raw: SensorInput) -> Plan:
    """The words for one window: without `length`, and `rate` if it changes nothing. Raises UsageError."""
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


def _kinds(plan: Plan, text: str, taken: TensorType) -> Iterator[SensorInput]:
    """The inputs that the sensor may give: as the text says, else those that could make the network's input."""
    if plan.frame is not None:
        yield _of_camera(plan, plan.frame, text)
        return
    stage = SOUND if plan.of(SOUND) else IMAGE if plan.of(IMAGE) else NUMBER
    default = {SOUND: "s16", IMAGE: "u8", NUMBER: "f32"}[stage]
    if text:
        yield _given(text, stage, default, plan.rate)
    elif stage == SOUND:
        if not plan.rate:
            raise _without_rate()
        yield from (SensorInput((n,), default, plan.rate) for n in dict.fromkeys(_lengths(plan, taken)))
    elif any(step.name in _WITH_SIZES for step in plan.steps):
        hint = f"give it, such as {OPTION} 160x120x3 for 160 columns, 120 rows and 3 channels"
        raise UsageError("the size of the camera's images is not known", where=preprocess.WHERE, hint=hint)
    else:
        yield SensorInput(_natural(plan, taken.shape[1:] if taken.shape[:1] == (1,) else taken.shape), default)


def _of_camera(plan: Plan, frame: Shape, text: str) -> SensorInput:
    """The bytes that a camera's word takes. Raises UsageError if the value of --raw states other ones."""
    given = _FORM.fullmatch(text) if text else None
    if text and (given is None or given[2] not in (None, "u8") or prod(map(int, given[1].split("x"))) != prod(frame)):
        word = plan.steps[0].text
        message = f"{text!r} does not fit {word!r}, which takes {prod(frame):,} bytes, {list(frame)}"
        raise UsageError(message, where=OPTION, hint=f"leave {OPTION} out, or correct the size in the word")
    return SensorInput(frame, "u8")


def _natural(plan: Plan, shape: Shape) -> Shape:
    """The shape of a sample before the words that order its axes."""
    if len(shape) < 2 or not plan.axes:
        return shape
    return (*shape[1:], shape[0]) if plan.axes == "nchw" else (shape[-1], *shape[:-1])


def _lengths(plan: Plan, taken: TensorType) -> Iterator[int]:
    """Numbers of samples that could make the network's input: the word `length`, whole windows, the input's size."""
    yield from (step.value.samples(plan.rate) for step in plan.of(SOUND) if step.name == "length")
    spectrum = spectrum_of(plan)
    if spectrum is not None:
        window, hop, _ = spectrum.sizes(plan.rate)
        yield from (window + (count - 1) * hop for count in sorted(set(taken.shape), reverse=True))
    yield taken.size


def _given(text: str, stage: str, default: str, rate: int) -> SensorInput:
    form = _FORM.fullmatch(text)
    if form is None:
        hint = "write SHAPE[:TYPE][@RATE], such as 16000@16000, 48000x2:s16@48000 or 160x120x3:u8"
        raise UsageError(f"{text!r} is no sensor's data", where=OPTION, hint=hint)
    shape, dtype = tuple(int(d) for d in form[1].split("x")), form[2] or default
    if stage == IMAGE:
        if len(shape) != 3 or shape[2] not in (1, 3) or dtype != "u8":
            hint = "give columns, rows and 1 or 3 channels, such as 160x120x3:u8"
            raise UsageError(f"{text!r} is no image of bytes", where=OPTION, hint=hint)
        shape = (shape[1], shape[0], shape[2])
    if stage == SOUND and (len(shape) > 2 or not (form[3] or rate)):
        hint = "give samples, channels if there are several, and the rate: 16000@16000 or 48000x2@48000"
        raise UsageError(f"{text!r} is no sound", where=OPTION, hint=hint)
    if not all(shape):
        raise UsageError(f"{text!r} has an axis without elements", where=OPTION, hint="give sizes from 1")
    return SensorInput(shape, dtype, int(form[3] or rate))


def _worded(plan: Plan, raw: SensorInput) -> tuple[FrontEnd, str]:
    """A front end with all words but the order of axes, and its result. Raises StepError."""
    is_sound = bool(plan.of(SOUND))
    quant = _SCALES.get(raw.dtype) if is_sound else None
    channels = len(raw.shape) if plan.of(IMAGE) else {"nchw": len(raw.shape), "nhwc": 1}.get(plan.axes)
    front = FrontEnd(TensorType((1, *raw.shape), raw.dtype, quant), raw.rate, channels)
    x = front.given if quant is None else front.node(Dequantize(), front.given)
    return front, preprocess.appended(front, x, plan.steps)


def _built(front: FrontEnd, y: str, plan: Plan, raw: SensorInput, network: Graph) -> Graph:
    """The graph of a front end with the result y, in the order of axes and the type that the network takes."""
    taken, t = network.tensors[network.inputs[0]], front.type(y)
    if not front.has_windows or taken.type.size % t.size or t.size == taken.type.size:
        channels = 2 if plan.of(IMAGE) else None
        column = Column(preprocess.WHERE, 1, t.shape[1:], lambda n: iter(()), channels)
        order = fit(column, TensorType(taken.type.shape, "f32"), plan).order
        perm = (0, *(axis + 1 for axis in order))
        y = y if perm == tuple(range(len(perm))) else front.node(Transpose(perm), y)
    y = _stored(front, y, taken.type)
    label = "samples" if plan.of(SOUND) else "pixels" if plan.of(IMAGE) else taken.label
    found = front.graph(y, label)
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
    if plan.of(SOUND):
        facts |= {"input": {"shape": list(raw.shape), "type": raw.dtype, "rate": raw.rate}, "rate": round(rate)}
    spectrum = spectrum_of(plan)
    if spectrum is not None:
        facts |= zip(("window", "hop", "points"), spectrum.sizes(rate), strict=True)
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
