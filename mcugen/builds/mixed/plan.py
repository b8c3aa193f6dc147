"""Mixed precision: the user's goals, and the choice of bit widths that meets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.builds.mixed import axis as axes
from mcugen.builds.mixed import by_noise
from mcugen.builds.mixed.axis import BitsAxis
from mcugen.builds.mixed.bit_costs import Costs
from mcugen.builds.mixed.by_noise import NoiseChoice
from mcugen.builds.mixed.loss import Loss, loss_of
from mcugen.builds.mixed.search import BitsPoint, BitsSearch
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.quantize.cross_validation import Bench, TaskPool
from mcugen.quantize.guard import Guard
from mcugen.quantize.recipe import Recipe, Widths
from mcugen.quantize.solve import solved

FRONT_POINTS = 9
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """The kinds of bit widths to choose, and limits to meet.

    weights, activations: whether to choose their widths. most: allowed loss in %. options: board and budgets. front:
    whether to also compare assignments from wide to narrow. judge: "classes", "error", or "" for the default. least:
    SQNR in dB, for which the loudest tensors get 16 bits.
    """

    weights: bool = False
    activations: bool = False
    most: float | None = None
    options: Options = field(default_factory=Options)
    front: bool = False
    judge: str = ""
    least: float | None = None

    @property
    def has_goal(self) -> bool:
        return self.most is not None or bool(self.options.flash or self.options.ram)


@dataclass
class BitsChooser:
    """Chooses bit widths for `run.quantize` with `choose`. Its fields keep the result for the report."""

    request: Request
    point: BitsPoint | None = None
    loss: Loss | None = None
    fronts: dict[str, list[BitsPoint]] = field(default_factory=dict)
    by_noise: NoiseChoice | None = None

    def choose(self, workers: TaskPool, base: Widths, progress: Progress) -> Widths:
        """The cheapest assignment that meets the limits.

        Weights are chosen first, with 8-bit activations. If that does not meet the limits, activations follow. Raises
        MemoryBudgetError if nothing fits, and UsageError if every assignment loses too much.
        """
        bench, request = workers.bench, self.request
        if request.least is not None:
            self.by_noise = by_noise.chosen(workers, base, request.least, progress)
            return self.by_noise.widths
        self.loss = loss_of(bench, request.judge)
        last: Widths = base
        for make in [
            *([axes.weights] if request.weights else []),
            *([axes.activations] if request.activations else []),
        ]:
            axis = make(bench, last)
            if not axis.nodes:
                hint = f"leave out --{make.__name__} mixed: the reference runtime has kernels for one width only"
                raise UsageError(f"no layer has a choice of bits for its {make.__name__}", hint=hint)
            costs = Costs(request.options, _network(bench))
            found = self._along(axis, workers, costs, progress)
            if found is not None:
                self.point = found
                last = found.widths
                if make is axes.weights and self._is_met(found):
                    break
            elif axis.kind == axes.WEIGHTS:
                last = axis.widest
        if request.has_goal and (self.point is None or not self._is_met(self.point)):
            raise self._unmet(Costs(request.options, _network(bench)), last)
        return last

    def _along(self, axis: BitsAxis, workers: TaskPool, costs: Costs, progress: Progress) -> BitsPoint | None:
        progress(f"comparing {axis.kind} of {len(axis.nodes)} layers")
        assert self.loss is not None
        search = BitsSearch(
            workers, axis, recipes(workers, axis, progress), costs, self.loss, self.request.most, progress
        )
        if self.request.front:
            free = replace(self.request.options, flash="", ram="")
            unbounded = Costs(free, costs.network)
            self.fronts[axis.kind] = replace(search, costs=unbounded).front(FRONT_POINTS)
        if not self.request.has_goal:
            return None
        budget = self.request.options.flash or self.request.options.ram
        return search.best() if budget else search.cheapest()

    def _is_met(self, point: BitsPoint) -> bool:
        return self.request.most is None or point.loss <= self.request.most

    def _unmet(self, costs: Costs, widths: Widths) -> MemoryBudgetError | UsageError:
        if self.point is None and (self.request.options.flash or self.request.options.ram):
            cost = costs.of(widths)
            return MemoryBudgetError(
                f"no assignment of bits fits: it still needs {cost.flash:,} bytes of constants and {cost.ram:,} of RAM",
                hint="allow more --flash or --ram, or choose --weights mixed as well",
            )
        lost = "more" if self.point is None else f"{self.point.loss:.2f} %"
        return UsageError(
            f"--max-loss {self.request.most:g}%: the best assignment found loses {lost}",
            hint="allow a larger loss, or choose --activations mixed as well",
        )


def recipes(workers: TaskPool, axis: BitsAxis, progress: Progress = lambda text: None) -> tuple[Recipe, ...]:
    """The recipes (steps of quantization) to try on each assignment of an axis: the best if all layers are narrow,
    and for activations also the best if all are wide.

    Ranges that are best for 8-bit activations may limit 16-bit activations.
    """
    ends = (axis.narrowest,) if axis.kind == axes.WEIGHTS else (axis.narrowest, axis.widest)
    return tuple(dict.fromkeys(Guard(workers, widths, progress).judged().recipe for widths in ends))


def _network(bench: Bench) -> Callable[[Widths], Graph]:
    """A function that builds the integer network for given bit widths, quickly, to estimate its cost.

    Scales come from one sample and the simplest recipe (steps of quantization): they do not matter for the cost.
    """
    one = bench.floats.part(np.arange(1))
    return lambda widths: solved(one, Recipe(), widths)
