/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * avx2 -> vnni
 * s8 -> s8w16
 * avx2 -> neon, flip -> copy
 * avx2 -> dotprod, flip -> copy
 * avx2 -> neon, flip -> copy, s8 -> s8w16
 */
#include "mcugen/simd_conv.h"
#include "mcugen/simd_dense_s8_avx2.h"
#include "mcugen/simd_flip.h"

void mg_conv2d_s8__avx2_row(const mg_simd_conv_params *p, const int8_t *in, uint8_t *row)
{
    if (in == NULL) {
        (void)memset(row, p->outside, p->row_len);
        return;
    }
    const uint32_t end = p->before + p->in_len;
    (void)memset(row, p->outside, p->before);
    mg_simd_flip(in, row + p->before, p->in_len);
    (void)memset(row + end, p->outside, p->row_len - end);
}

void mg_conv2d_s8__avx2(const mg_simd_conv_params *p, const uint8_t *const *rows, int8_t *out)
{
    mg_simd_dense_s8_avx2(&p->dense, rows, p->out_w, out);
}
