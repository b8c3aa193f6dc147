"""Kernels for cores with the DSP instructions of Armv7E-M and Armv8-M: pairs of int16 products, with SMLAD."""

from __future__ import annotations

from mcugen.ir.kernel import Family
from mcugen.kernels.dsp import (
    depthwise_direct,
    each,
    fourier,
    gate_rows,
    hybrid_pairs,
    matmul_streams,
    norm,
    patch,
    planar,
    recurrent,
    scaling,
    slices,
    vector,
    vector_direct,
    widened_conv,
    windows,
    winograd,
)
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.conv2d import Conv2D, is_pointwise, one_group
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D, reads_one_channel
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.hybrid_conv2d import HybridConv2D
from mcugen.ops.integer_gru import IntegerGru
from mcugen.ops.integer_lstm import IntegerLstm
from mcugen.ops.integer_rnn import IntegerRnn
from mcugen.ops.lstm_quantized import QuantizedLstm
from mcugen.ops.normalization import Normalization
from mcugen.ops.power_spectrum import PowerSpectrum
from mcugen.ops.real_fourier import RealFourier
from mcugen.ops.svdf import Svdf

FAMILY = Family(
    rank=20,
    needs=winograd.NEEDS | scaling.FPU,
    serves={
        BatchMatmul: matmul_streams.KERNELS,
        Conv2D: (
            *widened_conv.run_kernels(is_pointwise),
            *vector.kernels(is_pointwise),
            *vector_direct.kernels(is_pointwise),
            winograd.kernel(one_group),
            *widened_conv.ring_kernels(one_group),
            *patch.kernels(one_group),
            *windows.kernels(one_group),
        ),
        DepthwiseConv2D: (
            *widened_conv.ring_kernels(reads_one_channel),
            *windows.kernels(reads_one_channel),
            *planar.KERNELS,
            each.EACH,
            *slices.KERNELS,
            depthwise_direct.DIRECT,
        ),
        FullyConnected: (*vector.kernels(), *vector_direct.kernels()),
        HybridConv2D: (hybrid_pairs.CONV,),
        IntegerGru: gate_rows.GRU,
        IntegerLstm: gate_rows.LSTM,
        IntegerRnn: gate_rows.RNN,
        Normalization: norm.KERNELS,
        PowerSpectrum: fourier.POWER,
        QuantizedLstm: recurrent.LSTM,
        RealFourier: fourier.FOURIER,
        Svdf: recurrent.SVDF,
    },
)
