/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_conv_f32.h"
#include "mcugen/simd_float_rows.h"

void mg_conv2d_f32__fma_row(const mg_simd_conv_f32_params *p, const mg_f32 *in, mg_f32 *row)
{
    mg_simd_float_row(in, row, p->before, p->in_len, p->row_len);
}

void mg_conv2d_f32__fma(const mg_simd_conv_f32_params *p, const mg_f32 *const *rows, mg_f32 *out)
{
    mg_simd_dense_f32(&p->dense, rows, p->out_w, p->dense.bias, 0u, out);
}
