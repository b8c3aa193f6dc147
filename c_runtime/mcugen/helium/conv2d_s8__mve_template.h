/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8__mve.h"

MG_DECLARE_conv2d_s8__mve(MG_KERNEL);

#define MG_PATCHES 0
#define MG_ROW MG_LINKAGE void MG_VARIANT(row)
#include "mcugen/conv2d_s8_core__mve.h"

MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out)
{
    MG_VARIANT(line)(p, rows, out);
}
#undef MG_PATCHES
#undef MG_ROW
