/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8__mve_woven.h"

MG_DECLARE_conv2d_s8__mve_woven_flat(MG_KERNEL);

#define MG_BY_ONE 1
#define MG_BY_THREE 0
#include "mcugen/conv2d_s8_woven__mve.h"

#define MG_REACH ((MG_ACROSS - 1) * MG_STEP + MG_STEPS * 16)
#define MG_PATCHES_END ((4 * MG_BLOCKS - 1) * MG_TAPS + MG_STEPS * 16)

/* Copies the taps of a row of outputs one after the other. Whole vectors are stored: excess bytes are overwritten by
 * the next output's taps, or are multiplied by weights that are zero. */
static void MG_VARIANT(patches)(const int8_t *woven, int8_t *patches)
{
#if MG_HAS_MVE
    __asm__ volatile("dls lr, %2\n"
                     "1:\n"
                     ".if " MG_TEXT(MG_STEPS) " == 3\n"
                     "vldrb.u8 q2, [%0, #32]\n"
                     ".endif\n"
                     ".if " MG_TEXT(MG_STEPS) " > 1\n"
                     "vldrb.u8 q1, [%0, #16]\n"
                     ".endif\n"
                     "vldrb.u8 q0, [%0], #" MG_TEXT(MG_STEP) "\n"
                     ".if " MG_TEXT(MG_STEPS) " > 1\n"
                     "vstrb.8 q1, [%1, #16]\n"
                     ".endif\n"
                     ".if " MG_TEXT(MG_STEPS) " == 3\n"
                     "vstrb.8 q2, [%1, #32]\n"
                     ".endif\n"
                     "vstrb.8 q0, [%1], #" MG_TEXT(MG_TAPS) "\n"
                     "le lr, 1b\n"
                     : "+r"(woven), "+r"(patches)
                     : "r"(MG_ACROSS)
                     : "q0", "q1", "q2", "lr", "cc", "memory");
#else
    for (uint32_t x = 0u; x < MG_ACROSS; x += 1u) {
        (void)memcpy(patches + x * MG_TAPS, woven + x * MG_STEP, MG_TAPS);
    }
#endif
}

/* Interleaves and copies the taps of output row y. */
static void MG_VARIANT(row)(const mg_conv2d_s8__mve_woven_params *p, const int8_t *in, uint32_t y, int8_t *woven, int8_t *patches)
{
    const int32_t top = (int32_t)y * MG_STRIDE - MG_ABOVE;
    if (top < 0 || top + (MG_ROWS - 1) * MG_APART >= MG_IN_HEIGHT) {
        mg_fill_bytes(woven, p->in_zero_point, MG_REACH);
    }
    for (int32_t k = 0; k < MG_ROWS; k += 1) {
        const int32_t row = top + k * MG_APART;
        if (row >= 0 && row < MG_IN_HEIGHT) {
            MG_WEAVE(p, in + row * MG_IN_ROW, woven + MG_LEFT * MG_COLUMN + k * MG_CHANNELS);
        }
    }
    MG_VARIANT(patches)(woven, patches);
}

/* The last band may repeat rows of the band before. Columns outside the image keep the zero points that are stored at
 * the start. */
MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_woven_params *p, const int8_t *in, int8_t *out, int8_t *scratch)
{
    int8_t *const patches = scratch + 2 * MG_PAIR, *const woven = patches + MG_PATCHES_END;
    mg_fill_bytes(woven, p->in_zero_point, MG_REACH);
    for (uint32_t done = 0u; done < MG_HEIGHT; done += MG_BAND) {
        const uint32_t first = done + MG_BAND <= MG_HEIGHT ? done : MG_HEIGHT - MG_BAND;
        for (uint32_t k = 0u; k < MG_BAND; k += 1u) {
            MG_VARIANT(row)(p, in, first + k, woven, patches + k * (MG_ACROSS * MG_TAPS));
        }
        MG_VARIANT(line)(p, patches, out + first * (MG_ACROSS * MG_OUTPUTS), (int32_t *)(void *)scratch);
    }
}
#undef MG_REACH
#undef MG_PATCHES_END
#undef MG_BY_ONE
#undef MG_BY_THREE
#undef MG_WEAVE
#undef MG_COLUMN
#undef MG_BLOCKS
#undef MG_PAIR
