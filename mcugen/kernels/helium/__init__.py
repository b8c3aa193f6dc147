"""Kernels for cores with Helium (MVE): int8 data in vectors of 16, floats in vectors of four."""

from __future__ import annotations

from mcugen.kernel import Family, Form, Kernel
from mcugen.kernels.helium import conv, dense, depthwise, floats, packing, sums
from mcugen.ops import _pool, average_pool_2d, conv2d, depthwise_conv2d, fully_connected, relu
from mcugen.ops.add import Add
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.mul import Mul
from mcugen.ops.relu import Relu
from mcugen.ops.sub import Sub

GLOBAL_AVERAGE = Kernel(
    "mg_average_pool_2d_s8__mve_global",
    Form.ACCUMULATE,
    accepts=(_pool.int8_data, average_pool_2d.sums_fit, average_pool_2d.is_global),
    params=average_pool_2d.params_int,
    scratch=average_pool_2d.sums_bytes,
    work=packing.vector_work,
    terms=packing.VECTOR_TERMS,
    needs=packing.NEEDS,
)

FAMILY = Family(
    rank=10,
    needs=packing.NEEDS | floats.NEEDS,
    serves={
        Conv2D: (
            *dense.dense_kernels(conv2d.matrix, conv2d.pixels, (conv2d.is_pointwise,)),
            *conv.ring_kernels(conv2d.matrix, conv2d.window_of, conv2d.row_window, conv2d.one_group, conv2d.slides),
            floats.run_kernel("mg_conv2d_f32__mve_pointwise", conv2d.matrix, conv2d.pixels, conv2d.is_pointwise),
            floats.window_kernel(
                "mg_conv2d_f32__mve", conv2d.matrix, conv2d.window_of, conv2d.row_window, conv2d.one_group
            ),
        ),
        DepthwiseConv2D: (
            *conv.ring_kernels(
                depthwise_conv2d.matrix,
                depthwise_conv2d.window_of,
                depthwise_conv2d.row_window,
                depthwise_conv2d.reads_one_channel,
            ),
            *depthwise.depthwise_kernels(
                depthwise_conv2d.matrix, depthwise_conv2d.window_of, depthwise_conv2d.row_window
            ),
            floats.window_kernel(
                "mg_conv2d_f32__mve",
                depthwise_conv2d.matrix,
                depthwise_conv2d.window_of,
                depthwise_conv2d.row_window,
                depthwise_conv2d.reads_one_channel,
            ),
            floats.depthwise_kernel(
                "mg_depthwise_conv2d_f32__mve",
                depthwise_conv2d.matrix,
                depthwise_conv2d.window_of,
                depthwise_conv2d.row_window,
                depthwise_conv2d.one_output_each,
            ),
        ),
        FullyConnected: (
            *dense.dense_kernels(fully_connected.matrix, fully_connected.vectors, (fully_connected.rounds_twice,)),
            floats.run_kernel("mg_conv2d_f32__mve_pointwise", fully_connected.matrix, fully_connected.vectors),
        ),
        Add: (sums.kernel(1), floats.pair_kernel("mg_add_f32__mve")),
        Sub: (sums.kernel(-1), floats.pair_kernel("mg_sub_f32__mve")),
        Mul: (floats.pair_kernel("mg_mul_f32__mve"),),
        Relu: (floats.clamp_kernel("mg_clamp_f32__mve", relu.bounds_f32),),
        AveragePool2D: (GLOBAL_AVERAGE,),
    },
)
