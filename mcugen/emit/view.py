"""View of a model for the templates. Every name, number and pointer expression in it is ready to print."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from mcugen import __version__
from mcugen.emit import blob, bundle, tflm, window_rows
from mcugen.emit.class_labels import labels_of
from mcugen.emit.command import command_of
from mcugen.emit.constant_placement import ConstantPool, placed
from mcugen.emit.events import events_after_rows, index_type, order_of, period
from mcugen.emit.field_notes import layout_of
from mcugen.emit.literals import (
    ARRAY_TYPES,
    C_TYPES,
    bracketed,
    comment,
    float32,
    number,
    packed,
    plus,
    times,
    type_text,
)
from mcugen.emit.memory import element, pointer, regions_of
from mcugen.emit.model_parts import DeviceView, EndView, PushView, RowsView, SamplesView, StepView
from mcugen.emit.promise import REFERENCE_TITLES, promises_of, stated
from mcugen.emit.states import StateView, states_of
from mcugen.emit.whole_model import ModelView
from mcugen.emit.window_rows import RingView, WindowInput, WindowView, row_name
from mcugen.errors import UnsupportedError
from mcugen.ir.graph import Graph
from mcugen.ir.kernel import Accumulate, Grid, Ring, RowWindow, Run, Window
from mcugen.ir.streams import rows_of_window
from mcugen.ir.types import images_of, row_count, rows_of
from mcugen.options import Options
from mcugen.passes.tabulate_bytes import TABULATED
from mcugen.solve.plan import MemoryPlan, lower_bound
from mcugen.solve.schedule import Choice, Schedule, Step
from mcugen.solve.schedule.accesses import constant_accesses
from mcugen.solve.schedule.size import counters, kept_bytes, queue_slots, region_bytes, waiting_bytes
from mcugen.solve.weights import ALL_WITH_CODE, WeightRegions

MAX_OUTSIDE_ELEMENTS = 1 << 20


__all__ = ["ModelView", "build"]


def build(
    schedule: Schedule,
    plan: MemoryPlan,
    options: Options,
    name: str,
    weight_regions: WeightRegions = ALL_WITH_CODE,
    *,
    imported: Graph,
    on_device: bool = False,
) -> ModelView:
    """The view of a planned schedule.

    weight_regions: memories for constants. imported: the graph before any pass. on_device: whether it runs with OpenCL.
    """
    view = _Builder(schedule, plan, options, name, weight_regions, imported, on_device).model()
    behind = (view.ends, view.steps, view.arena_size)
    return replace(
        view,
        blob=blob.asked(options, schedule, plan, view.arrays, view.steps),
        tflm=tflm.asked(options, imported, name, *behind, spread=view.spread),
    )


@dataclass
class _Builder:
    """Builds the view step by step, and collects the constants that the steps name."""

    schedule: Schedule
    plan: MemoryPlan
    options: Options
    name: str
    weight_regions: WeightRegions
    imported: Graph
    on_device: bool = False

    @functools.cached_property
    def constants(self) -> ConstantPool:
        return ConstantPool(self.name)

    @property
    def graph(self) -> Graph:
        return self.schedule.graph

    @property
    def _choices(self) -> list[Choice]:
        """The choices of steps that run as C."""
        return [step.choice for step in self.schedule.steps if not isinstance(step.choice.kernel.form, Grid)]

    @functools.cached_property
    def bundle(self) -> bundle.Bundle:
        return bundle.of(self._choices)

    def model(self) -> ModelView:
        steps, states = [self._step(step) for step in self.schedule.steps], self._states()
        (bound, peak), order = lower_bound(self.schedule.buffers()), order_of(self.schedule)
        inputs, outputs = self._ends(self.graph.inputs, "input"), self._ends(self.graph.outputs, "output")
        device = self._device(steps, inputs, outputs)
        tabulated = {part.tensor for part in self.graph.removed if part.what == TABULATED}
        promises = promises_of(self.imported, self.options.reference, tabulated)
        title = REFERENCE_TITLES[self.options.reference]
        words = stated(promises, [end.label for end in outputs], title, halves=self.graph.stores_halves)
        return ModelView(
            version=__version__,
            name=self.name,
            macro=self.name.upper(),
            command=command_of(self.options, self.name, self.graph.format),
            sha256=self.graph.sha256,
            reference=self.options.reference,
            reference_title=title,
            promises=promises,
            promise=f"Computes {words}.",
            arena_size=sum(region_bytes(self.plan, self.schedule).values()),
            lower_bound=bound,
            peak_step=self._step_of(peak),
            proven=self.plan.proven and not self.plan.further,
            streams=self.schedule.takes_frames,
            keep_input=self.options.keep_input,
            macs=sum(self.schedule.macs(step) for step in self.schedule.steps),
            weights_size=self.constants.nbytes + (device.constants_size if device else 0),
            inputs=inputs,
            outputs=outputs,
            arrays=placed(self.constants.arrays, self.constants.reads, self.weight_regions),
            steps=steps,
            order=order,
            order_type=index_type(max((max(pair) for pair in order), default=0)),
            push=self._push(),
            samples=self._samples(),
            states=states,
            counters=counters(self.schedule),
            kept_bytes=kept_bytes(self.schedule),
            bands=self.schedule.bands,
            waiting=waiting_bytes(self.schedule),
            regions=regions_of(self.schedule, self.plan),
            reads=self.constants.reads,
            interface=self.bundle.path(bundle.INTERFACE),
            runtime=self.bundle.path(bundle.RUNTIME),
            headers=sorted({self.bundle.header(c.kernel, c.call) for c in self._choices}),
            declarations=self._declarations(),
            runtime_files=self.bundle.files(self._choices),
            device=device,
        )

    def _declarations(self) -> list[str]:
        """C declarations of the kernel copies for the sizes of one call, sorted and without duplicates."""
        return sorted({self.bundle.declaration(c.kernel, c.call) for c in self._choices if c.kernel.text.variant})

    def _states(self) -> list[StateView]:
        """The states. Their initial values are added to the constants."""
        constant = (lambda data, title: "") if self.on_device else self.constants.initial
        return states_of(self.schedule, self.plan, constant)

    def _step_of(self, event: int) -> int:
        """The step of an event. 0 for a pushed input row, or if there are no events."""
        return max(self.schedule.trace[event].step, 0) if self.schedule.trace else 0

    def _device(self, steps: list[StepView], inputs: list[EndView], outputs: list[EndView]) -> DeviceView | None:
        """Tables of a model that runs on an OpenCL device; None for a model in C."""
        if not self.on_device:
            return None
        from mcugen.emit.opencl import host_tables  # imported on first use

        return host_tables.build(self.schedule, self.plan, inputs, outputs, [step.title for step in steps])

    def _ends(self, names: tuple[str, ...], kind: str) -> list[EndView]:
        return [self._end(name, kind, "" if len(names) == 1 else f"_{k}") for k, name in enumerate(names)]

    def _end(self, name: str, kind: str, suffix: str) -> EndView:
        tensor, at = self.graph.tensors[name], self.schedule.places[name]
        t = tensor.type
        quant = t.quant if t.quant and not t.quant.per_channel else None
        limits = (0, 0) if t.is_float or t.dtype == "bool" else t.limits
        return EndView(
            function=f"{self.name}_{kind}{suffix}",
            macro=f"{self.name}_{kind}{suffix}".upper(),
            c_type=C_TYPES[t.dtype],
            length=t.size,
            nbytes=t.nbytes,
            offset=self.plan.parts[self.plan.part_of(at.buffer)].offset[at.buffer] + at.start,
            place=element(self.plan, at.buffer, at.start),
            type_text=type_text(t),
            label=comment(tensor.label),
            scale=float32(quant.scale[0]) if quant else "",
            zero_point=bracketed(number(quant.zero_point[0])) if quant else "",
            zero=quant.zero_point[0] if quant else 0,
            low=limits[0],
            high=limits[1],
            is_narrow=not t.is_float and t.np_dtype.itemsize <= 2,
            is_input=kind == "input",
            is_unread=name in self.graph.unread_inputs,
            labels=labels_of(self.graph, name),
        )

    def _push(self) -> PushView | None:
        if self.schedule.pushed is None:
            return None
        t, at = self.graph.type(self.schedule.pushed), self.schedule.places[self.schedule.pushed]
        rows = self.schedule.pushed_rows
        until = [0] if self.schedule.takes_frames else events_after_rows(self.schedule, rows)
        return PushView(
            input=self.graph.inputs.index(self.schedule.pushed),
            rows=rows,
            row_length=t.size // rows,
            row_nbytes=t.nbytes // rows,
            c_type=C_TYPES[t.dtype],
            ring=pointer(self.plan, at.buffer, C_TYPES[t.dtype], const=False, start=at.start),
            kept=self._ring(self.schedule.pushed) or rows,
            until=until,
            until_type=index_type(until[-1]),
            period=period(self.schedule) if self.schedule.streams else 1,
            rolls=self.schedule.rolls,
        )

    def _samples(self) -> SamplesView | None:
        stream, made = self.graph.stream, self.schedule
        if stream is None:
            return None
        name = self.graph.inputs[0]
        t, at, events = self.graph.type(name), made.places[name], made.hop_events
        return SamplesView(
            window=pointer(self.plan, at.buffer, C_TYPES[t.dtype], const=False, start=at.start),
            size=t.size,
            hop=stream.hop,
            rows=rows_of_window(self.imported),
            stride=stream.stride,
            rate=stream.rate,
            slots=queue_slots(made),
            c_type=C_TYPES[t.dtype],
            nbytes=t.np_dtype.itemsize,
            reading=made.window_events,
            events=events,
            has_decisions=events < len(made.trace) or stream.stride > 1,
        )

    def _pointer(self, name: str, *, const: bool, row: str = "", image: bool = False) -> str:
        """A typed pointer to a tensor in the arena or in flash. row, image: C variables of the row and image to point
        to.
        """
        tensor = self.graph.tensors[name]
        c_type = C_TYPES[tensor.type.dtype]
        if tensor.data is not None:
            return self.constants.symbol(
                tensor.type.stored(tensor.data), c_type, f"{type_text(tensor.type)} {tensor.label}", tensor.type.size
            )
        at = self.schedule.places[name]
        start = pointer(self.plan, at.buffer, c_type, const=const, start=at.start)
        shape, size = self.graph.type(name).shape, self.graph.type(name).size
        start += f" + image * {size // images_of(shape)}" if image and images_of(shape) > 1 else ""
        return start + self._row_offset(name, row) if row else start

    def _row_offset(self, name: str, row: str) -> str:
        """C text of the offset from a tensor's start to a row."""
        t, kept = self.graph.type(name), self._ring(name)
        slot = f"{row} % {kept}u" if kept else row
        alone = kept == 1 or (self.schedule.streams and not kept)
        return "" if alone else f" + {times(slot, t.size // row_count(t.shape), 'u')}"

    def _ring(self, name: str) -> int:
        """Rows in the ring of a tensor; 0 if it is not a ring."""
        buffer = self.schedule.buffer_of(name)
        return buffer.kept if buffer.kept < buffer.rows or (self.schedule.streams and buffer.rows > 1) else 0

    # steps -----------------------------------------------------------------------------------------------------

    def _step(self, step: Step) -> StepView:
        choice, kernel = step.choice, step.choice.kernel
        if isinstance(kernel.form, Grid):
            return StepView.on_device(step.index, self._title(step), kernel.symbol)
        call, row = choice.call, row_name(step)
        first = next((call.input(k) for k in kernel.pointer_operands(call)), call.output)
        fields = self._fields(step)
        window_view, ring = self._window(step)
        return StepView(
            index=step.index,
            by_rows=step.by_rows,
            title=self._title(step),
            kernel=self.bundle.function(kernel, call),
            params=f"step{step.index}" if choice.params else "",
            params_type=self.bundle.params(kernel, call),
            fields=fields,
            form=kernel.form.name,
            inputs=self._inputs(step),
            outputs=self._outputs(step),
            scratch=self._scratch(step),
            count=(kernel.form.count(call) if isinstance(kernel.form, Run) else 0)
            // (step.walked_rows if step.writes_rows else 1),
            batch=step.batch,
            images=images_of(call.output.shape),
            in_image=first.size // images_of(first.shape),
            out_image=call.output.size // images_of(call.output.shape),
            rows=rows_of(first.shape) if isinstance(kernel.form, Accumulate) else rows_of(call.output.shape),
            window=window_view,
            ring=ring,
            row=row,
            hooks=self._hooks(step),
            bands=step.bands,
            parts=kernel.form.count(call) if isinstance(kernel.form, Run) else rows_of(call.output.shape),
        )

    def _inputs(self, step: Step) -> list[str]:
        """Pointers to the operands. For a step that reads row by row they point to the current row, unless the kernel
        finds its rows itself.
        """
        kernel, node = step.choice.kernel, step.choice.node
        finds_rows = kernel.slides or (self.schedule.streams and step.accumulates)
        operands = [(k, node.inputs[k]) for k in kernel.pointer_operands(step.choice.call)]
        return [
            self._pointer(name, const=True, row=row_name(step) if not finds_rows and step.streamed(k) else "")
            + self._in_band(step, name)
            for k, name in operands
            if name is not None
        ]

    def _outputs(self, step: Step) -> list[str]:
        slides = step.choice.kernel.slides
        row = row_name(step) if step.writes_rows or slides else ""
        return [
            self._pointer(name, const=False, row=row, image=slides) + self._in_band(step, name)
            for name in step.choice.node.outputs
        ]

    def _in_band(self, step: Step, name: str) -> str:
        """C text of the offset from a tensor's start to the first element of a band of a run; "" without bands."""
        form = step.choice.kernel.form
        if step.bands == 1 or not isinstance(form, Run):
            return ""
        return f" + {times('first', self.graph.type(name).size // form.count(step.choice.call), 'u')}"

    def _hooks(self, step: Step) -> list[RowsView]:
        """The rows that the step has just written, for each output."""
        row = row_name(step) if step.writes_rows else ""
        outputs = zip(step.choice.node.outputs, step.choice.call.outputs, strict=True)
        return [
            RowsView(
                k,
                1 if step.writes_rows else row_count(t.shape),
                t.nbytes // row_count(t.shape),
                self._pointer(name, const=True, row=row),
            )
            for k, (name, t) in enumerate(outputs)
        ]

    def _title(self, step: Step) -> str:
        """Comment above a step: its operator, its sizes, and the model's name for it."""
        node, call = step.choice.node, step.choice.call
        label = self.graph.tensors[node.outputs[0]].layer
        origin = f"'{label}'" if label else node.source
        return comment(f"{type(node.op).__name__} {node.op.in_words(call)}, from {origin}")

    def _fields(self, step: Step) -> list[str]:
        """The members of a step's parameter struct as lines of C text."""
        values = step.choice.params
        arrays = {key: value.size for key, value in values.items() if isinstance(value, np.ndarray)}
        reads = dict(zip(arrays, constant_accesses(self.schedule, step, list(arrays.values())), strict=True))
        return packed(f".{key} = {self._field(step, key, value, reads.get(key, 0))}," for key, value in values.items())

    def _field(self, step: Step, key: str, value: int | float | np.ndarray, reads: int) -> str:
        if isinstance(value, np.ndarray):
            layout = layout_of(step.choice.kernel, key)
            return self.constants.symbol(value, ARRAY_TYPES[value.dtype], f"{key} of step {step.index}", reads, layout)
        return number(value)

    def _scratch(self, step: Step) -> str:
        if step.choice.kernel.scratch is None:
            return ""
        if not step.scratch_bytes:
            return "NULL"
        at = f"&a{element(self.plan, step.scratch_name)}"
        return f"(void *)({at} + {times('band', step.band_scratch, 'u')})" if step.bands > 1 else f"(void *){at}"

    def _window(self, step: Step) -> tuple[WindowView | None, RingView | None]:
        """The input rows that a step's window covers, and the ring of converted rows if the step converts rows."""
        call, form = step.choice.call, step.choice.kernel.form
        w = form.window(call)
        if w is None:
            return None, None
        x, name, streams = call.input(0), str(step.choice.node.inputs[0]), self.schedule.streams
        length, start = x.size // row_count(x.shape), self._pointer(name, const=True, image=True)
        image = WindowInput(start, x.dtype, w.in_rows, length, self._ring(name), row_name(step))
        if isinstance(form, Ring):
            ring = form.storage(call)
            at = pointer(self.plan, step.ring_name, C_TYPES[ring.dtype], const=False)
            if step.bands > 1:
                at += f" + {times('band', step.ring_rows * ring.length, 'u')}"
            if step.refills:
                return window_rows.refilled(w, ring, at, image)
            in_bands = step.bands > 1
            return window_rows.converted(w, ring, step.ring_rows, at, image, streams=streams, in_bands=in_bands)
        if streams:
            return window_rows.streamed_window(w, image), None
        return window_rows.window(w, image, self._first_row(w, image.y), self._outside(step, w)), None

    def _outside(self, step: Step, w: RowWindow) -> str:
        """C text of the row that stands in for rows outside the image. Raises UnsupportedError if it would be
        too long.
        """
        call, form = step.choice.call, step.choice.kernel.form
        if not isinstance(form, Window) or form.outside is None or not w.leaves_image:
            return "NULL"
        x, value = call.input(0), form.outside(call)
        length = x.size // row_count(x.shape)
        if length > MAX_OUTSIDE_ELEMENTS:
            raise UnsupportedError(
                f"the padded image has rows of {length} elements; at most {MAX_OUTSIDE_ELEMENTS} are supported",
                where=step.choice.node.source,
            )
        filled = np.full(length, value, x.np_dtype)
        return self.constants.symbol(filled, C_TYPES[x.dtype], f"a row outside the image, {value}", length)

    def _first_row(self, w: RowWindow, y: str) -> str:
        """The first input row of output row y, as C text."""
        if not w.firsts:
            return plus(times(f"(int32_t){y}", w.stride), -w.pad)
        stored = np.array(w.firsts, np.min_scalar_type(min(-1 - w.firsts[-1], w.firsts[0])))
        note = "first input row of each output row"
        return f"{self.constants.symbol(stored, ARRAY_TYPES[stored.dtype], note, stored.size)}[{y}]"
