/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel MG_KERNEL of depthwise_conv2d_s8__mve.h.
 *
 * MG_LINEAR  1: _linear and _clamp; 2: _once; 3: _float; else 0
 * MG_CLAMP   1: _clamp, _once_clamp and _float; else 0
 */
#include "mcugen/dense_s8_asm__mve.h"
#include "mcugen/depthwise_conv2d_s8__mve.h"
#include "mcugen/variant.h"

#define MG_ROW void
#include "mcugen/depthwise_conv2d_s8_rows__mve.h"
#undef MG_ROW

#define MG_SLICED 0
#include "mcugen/depthwise_conv2d_s8_blocks__mve.h"
#undef MG_SLICED

void MG_KERNEL(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)
{
    MG_VARIANT(weave_all)(p, rows, scratch);
    MG_VARIANT(compute)(p, scratch, out);
}
