/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_s8.h"
#include "mcugen/divide.h"
#include "mcugen/mve.h"

#define MOST 255u /* most pixels whose sum fits 16 bits */

/* sums[c] += sum over i < n of in[i * channels + c], for c < count <= 8 and n <= MOST. */
static void add_columns(mg_s32 *sums, const int8_t *in, uint32_t n, uint32_t channels, uint32_t count)
{
    int16_t partial[8] MCUGEN_ALIGNED(8);
#if MG_HAS_MVE
    const int8_t *x = in;
    __asm__ volatile("vctp.16 %3\n"
                     "vmov.i16 q0, #0\n"
                     "dls lr, %1\n"
                     "1:\n"
                     "vpst\n"
                     "vldrbt.s16 q1, [%0]\n"
                     "vadd.i16 q0, q0, q1\n"
                     "add %0, %0, %2\n"
                     "le lr, 1b\n"
                     "vstrh.16 q0, [%4]\n"
                     : "+l"(x)
                     : "r"(n), "r"(channels), "r"(count), "r"(partial)
                     : "q0", "q1", "lr", "cc", "memory");
#else
    for (uint32_t c = 0u; c < count; c += 1u) {
        partial[c] = 0;
        for (uint32_t i = 0u; i < n; i += 1u) {
            partial[c] = (int16_t)(partial[c] + in[i * channels + c]);
        }
    }
#endif
    for (uint32_t c = 0u; c < count; c += 1u) {
        sums[c] += partial[c];
    }
}

void mg_average_pool_2d_s8__mve_global_begin(const mg_average_pool_2d_s8_params *p, void *acc)
{
    mg_s32 *const sums = acc;
    for (uint32_t c = 0u; c < p->channels; c += 1u) {
        sums[c] = 0;
    }
}

void mg_average_pool_2d_s8__mve_global_rows(const mg_average_pool_2d_s8_params *p, const int8_t *in, uint32_t y,
                                            uint32_t n, void *acc)
{
    mg_s32 *const sums = acc;
    const uint32_t pixels = n * p->in_w;
    (void)y;
    for (uint32_t i = 0u; i < pixels; i += MOST) {
        const uint32_t chunk = pixels - i < MOST ? pixels - i : MOST;
        for (uint32_t c = 0u; c < p->channels; c += 8u) {
            const uint32_t count = p->channels - c < 8u ? p->channels - c : 8u;
            add_columns(sums + c, in + i * p->channels + c, chunk, p->channels, count);
        }
    }
}

void mg_average_pool_2d_s8__mve_global_end(const mg_average_pool_2d_s8_params *p, const void *acc, int8_t *out)
{
    const mg_s32 *const sums = acc;
    const uint32_t count = p->in_h * p->in_w;
    for (uint32_t c = 0u; c < p->channels; c += 1u) {
        const int32_t sum = sums[c] + p->offset * (int32_t)count;
        const int32_t y = mg_average(sum, count, p->recip_mult[0], p->recip_shift[0]) - p->offset;
        out[c] = (int8_t)mg_clamp(y, p->out_min, p->out_max);
    }
}
