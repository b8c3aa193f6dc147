/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_vectors_f32.h"

void mg_fully_connected_f32__fma(const mg_simd_vectors_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    const mg_f32 *const rows[1] = {in};
    mg_simd_dense_f32(&p->dense, rows, n, p->dense.bias, 0u, out);
}
