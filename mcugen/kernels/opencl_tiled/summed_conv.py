"""int8 convolutions fused with an addition: the expression of the Add operator adds another tensor to the results."""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.call import Call, Params, fact
from mcugen.ir.element import Walk
from mcugen.ir.kernel import Kernel
from mcugen.kernels.grid import GridLoop, Tail, of_loop
from mcugen.kernels.opencl_tiled.dots import DOTS
from mcugen.kernels.opencl_tiled.products import S8, SPLIT_S8, in_runs
from mcugen.ops._summed import addition, convolution
from mcugen.ops.add import Add
from mcugen.ops.conv2d import one_group

_ELEMENTS = tuple(of_loop(kernel, frozenset()) for kernel in Add.kernels if kernel.text.generate)


@fact
def _element(call: Call) -> Kernel | None:
    """The elementwise kernel that computes the addition alone; None if there is none."""
    return next((kernel for kernel in _ELEMENTS if not kernel.refusals(addition(call), frozenset())), None)


def has_element(call: Call) -> bool:
    "an elementwise kernel computes the addition of two tensors of the same shape"
    kernel = _element(call)
    return kernel is not None and _loop(kernel, call).loop.walk is Walk.RUN


def _loop(kernel: Kernel, call: Call) -> GridLoop:
    made = kernel.text.generate(addition(call)) if kernel.text.generate else None
    assert isinstance(made, GridLoop)
    return made


def _tail(call: Call) -> Tail:
    kernel = _element(call)
    assert kernel
    order = kernel.pointer_operands(addition(call))
    return Tail(_loop(kernel, call).loop, first=order[0] == (0 if call.op.first else 1))


def _fields(call: Call) -> Params:
    kernel = _element(call)
    assert kernel
    assert kernel.params
    return {name: value for name, value in kernel.params(addition(call)).items() if name != "total"}


def _summed(kernel: Kernel) -> Kernel:
    """The convolution kernel with the addition at its end; everything else is as in the plain kernel."""
    alone, grid = kernel.ruled(one_group), kernel.grid
    params, variant, tiles, room = kernel.params, kernel.text.variant, grid.tiles, grid.room
    assert params
    assert variant
    assert tiles

    def takes_convolution(call: Call) -> bool:
        "the kernel accepts the convolution without the addition"
        return not alone.refusals(convolution(call), alone.needs)

    return replace(
        kernel,
        symbol=f"{kernel.symbol}_sum",
        form=replace(
            grid,
            launch=lambda call, tile: grid.launch(convolution(call), tile),
            tiles=lambda call: tiles(convolution(call)),
            room=(lambda call, tile: room(convolution(call), tile)) if room else None,
            tail=_tail,
            pitched=lambda call: in_runs(convolution(call)),
        ),
        accepts=(takes_convolution, has_element),
        params=lambda call: {**params(convolution(call)), **_fields(call)},
        operands=(0, 3),
        text=replace(kernel.text, variant=lambda call: {**variant(convolution(call)), "RESIDUAL": 1}),
    )


SUMMED = tuple(_summed(kernel) for kernel in (*DOTS, S8, SPLIT_S8))
