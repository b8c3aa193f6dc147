/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the outputs of one patch, in plain C for hosts. MG_LINEAR and MG_CLAMP stay defined: the including file ends
 * with finish_end__mve.h.
 */
#include "mcugen/dense_s8_asm__mve.h"
#include "mcugen/finish_begin__mve.h"

#if !MG_HAS_MVE
static void MG_VARIANT(pixel)(const mg_conv2d_s8__mve_shared_params *p, const int8_t *patch, int8_t *out)
{
    const uint32_t length = p->steps * 16u, nbytes = p->steps * 64u + 48u, left = p->out_c % 4u;
    for (uint32_t o = 0u; o < p->out_c; o += 1u) {
        const uint32_t place = o >= p->out_c - left ? o + 4u - left : o;
        const int8_t *const block = p->stream + place / 4u * nbytes + place % 4u * 16u;
        int32_t rest[3];
        for (uint32_t k = 0u; k < 3u; k += 1u) {
            (void)memcpy(&rest[k], p->stream + place / 4u * nbytes + p->steps * 64u + k * 16u + place % 4u * 4u, 4u);
        }
        for (uint32_t k = 0u; k < length; k += 1u) {
            rest[0] += patch[k] * block[k / 16u * 64u + k % 16u];
        }
        out[o] = (int8_t)mg_clamp(MG_SCALED(rest[0], rest[1], rest[2]) + p->out_zero_point, p->out_min, p->out_max);
    }
}
#endif
