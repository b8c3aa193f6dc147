/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8__mve_outliers.h"

MG_DECLARE_conv2d_s8__mve_patches_outliers(MG_KERNEL);

#define MG_CONV static void MG_VARIANT(conv)
#define MG_ROW static void MG_VARIANT(store)
#include "mcugen/conv2d_s8_patches__mve.h"
#undef MG_CONV
#undef MG_ROW
#include "mcugen/finish_begin__mve.h"
#include "mcugen/outliers__mve_template.h"

MG_LINKAGE void MG_VARIANT(row)(const mg_conv2d_s8__mve_outliers_params *p, const int8_t *in, int8_t *row)
{
    MG_VARIANT(store)(&p->base, in, row);
}

/* The outliers are computed from the patches, which are still in scratch. */
MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_outliers_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)
{
    const mg_conv2d_s8__mve_params *const base = &p->base;
    const MG_VARIANT(target) to = {out, base->out_c, base->out_zero_point, base->out_min, base->out_max};
    MG_VARIANT(conv)(base, rows, out, scratch);
    MG_VARIANT(outliers)(&p->outliers, scratch, MG_PIXEL, &to, base->out_w);
}
#include "mcugen/finish_end__mve.h"
