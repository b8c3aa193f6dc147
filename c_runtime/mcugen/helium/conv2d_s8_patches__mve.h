/* SPDX-License-Identifier: Apache-2.0
 *
 * An output row from gathered patches. MG_CONV, MG_ROW: type, linkage and name of the kernel's function and of the
 * function that stores an input row.
 */
#define MG_PATCHES 1
#include "mcugen/conv2d_s8_core__mve.h"

/* Copies a run of n pixels to their patches. Whole vectors are stored: excess bytes are overwritten by the next run, or
 * are multiplied by weights that are zero. */
#if MG_HAS_MVE
static inline void MG_VARIANT(spread)(const int8_t *in, int8_t *patch, uint32_t n)
{
    __asm__ volatile("dls lr, %2\n"
                     "1:\n"
                     ".set offset, 16\n"
                     ".rept (" MG_TEXT(MG_RUN) " - 1) / 16\n"
                     "vldrb.u8 q0, [%0, #offset]\n"
                     "vstrb.u8 q0, [%1, #offset]\n"
                     ".set offset, offset + 16\n"
                     ".endr\n"
                     ".if " MG_TEXT(MG_STRIDE) " < 128\n"
                     "vldrb.u8 q0, [%0], #" MG_TEXT(MG_STRIDE) "\n"
                     ".else\n"
                     "vldrb.u8 q0, [%0]\n"
                     "add %0, %0, #" MG_TEXT(MG_STRIDE) "\n"
                     ".endif\n"
                     ".if " MG_TEXT(MG_PIXEL) " < 128\n"
                     "vstrb.u8 q0, [%1], #" MG_TEXT(MG_PIXEL) "\n"
                     ".else\n"
                     "vstrb.u8 q0, [%1]\n"
                     "add %1, %1, #" MG_TEXT(MG_PIXEL) "\n"
                     ".endif\n"
                     "le lr, 1b\n"
                     : "+r"(in), "+r"(patch)
                     : "r"(n)
                     : "q0", "lr", "cc", "memory");
}
#else
static void MG_VARIANT(spread)(const int8_t *in, int8_t *patch, uint32_t n)
{
    for (uint32_t x = 0u; x < n; x += 1u) {
        (void)memcpy(patch + x * MG_PIXEL, in + x * MG_STRIDE, MG_RUN);
    }
}
#endif

MG_CONV(const mg_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)
{
    const int8_t *const patches[1] = {scratch};
    for (uint32_t k = 0u; k < MG_ROWS * MG_RUNS; k += 1u) {
        MG_VARIANT(spread)(rows[k / MG_RUNS] + k % MG_RUNS * MG_GAP, scratch + k * MG_RUN, p->out_w);
    }
    MG_VARIANT(line)(p, patches, out);
}
#undef MG_PATCHES
