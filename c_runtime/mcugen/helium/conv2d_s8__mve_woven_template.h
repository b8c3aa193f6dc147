/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8__mve_woven.h"

MG_DECLARE_conv2d_s8__mve_woven(MG_KERNEL);

#define MG_BY_ONE 1
#define MG_BY_THREE (MG_ROWS == 3)
#include "mcugen/conv2d_s8_woven__mve.h"

/* Interleaves rows, some of which are outside the image. */
static void MG_VARIANT(weave_inside)(const mg_conv2d_s8__mve_woven_params *p, const int8_t *const *rows, int8_t *woven)
{
    mg_fill_bytes(woven, p->in_zero_point, MG_COLUMNS * MG_COLUMN);
    for (uint32_t k = 0u; k < MG_ROWS; k += 1u) {
        if (rows[k] != NULL) {
            MG_WEAVE(p, rows[k], woven + MG_LEFT * MG_COLUMN + k * MG_CHANNELS);
        }
    }
}

/* Interleaves rows that are all inside the image. */
static void MG_VARIANT(weave_all)(const mg_conv2d_s8__mve_woven_params *p, const int8_t *const *rows, int8_t *woven)
{
    const uint32_t before = MG_LEFT * MG_COLUMN, inside = MG_USED * MG_ROWS, all = MG_COLUMNS * MG_COLUMN;
    if (before > 0u) {
        mg_fill_bytes(woven, p->in_zero_point, before);
    }
    if (all > before + inside) {
        mg_fill_bytes(woven + before + inside, p->in_zero_point, all - before - inside);
    }
#if MG_ROWS == 3
    MG_VARIANT(weave_three)(rows, p->places, woven + before);
#else
    for (uint32_t k = 0u; k < MG_ROWS; k += 1u) {
        MG_WEAVE(p, rows[k], woven + before + k * MG_CHANNELS);
    }
#endif
}

MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_woven_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    int8_t *const woven = scratch + 2 * MG_PAIR;
    (void)y;
    if (rows[0] != NULL && rows[MG_ROWS - 1] != NULL) {
        MG_VARIANT(weave_all)(p, rows, woven);
    } else {
        MG_VARIANT(weave_inside)(p, rows, woven);
    }
    MG_VARIANT(line)(p, woven, out, (int32_t *)(void *)scratch);
}
#undef MG_BY_ONE
#undef MG_BY_THREE
#undef MG_WEAVE
#undef MG_COLUMN
#undef MG_BLOCKS
#undef MG_PAIR
