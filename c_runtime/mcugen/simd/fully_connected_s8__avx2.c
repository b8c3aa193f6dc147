/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * avx2 -> vnni
 * s8 -> s8w16
 * avx2 -> neon, flip -> copy
 * avx2 -> dotprod, flip -> copy
 * avx2 -> neon, flip -> copy, s8 -> s8w16
 */
#include "mcugen/simd_vectors.h"
#include "mcugen/simd_dense_s8_avx2.h"
#include "mcugen/simd_flip.h"

void mg_fully_connected_s8__avx2(const mg_simd_vectors_params *p, const int8_t *in, int8_t *out, uint8_t *scratch,
                                 uint32_t n)
{
    const uint8_t *const rows[1] = {scratch};
    for (uint32_t i = 0u; i < n; i += p->block) {
        const uint32_t vectors = n - i < p->block ? n - i : p->block;
        mg_simd_flip(in + (size_t)i * p->in_c, scratch, vectors * p->in_c);
        mg_simd_dense_s8_avx2(&p->dense, rows, vectors, out + (size_t)i * p->dense.out_c);
    }
}
