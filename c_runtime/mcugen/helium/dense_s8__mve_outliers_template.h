/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dense_s8__mve_outliers.h"

MG_DECLARE_dense_s8__mve_outliers(MG_KERNEL);

#include "mcugen/finish_begin__mve.h"

#define MG_DENSE static void MG_VARIANT(dense)
#include "mcugen/dense_s8_template__mve.h"
#include "mcugen/outliers__mve_template.h"

MG_LINKAGE void MG_KERNEL(const mg_dense_s8__mve_outliers_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)
{
    const mg_dense_s8__mve_params *const base = &p->base;
    const MG_VARIANT(target) to = {out, base->out_c, base->out_zero_point, base->out_min, base->out_max};
    MG_VARIANT(dense)(base, in, out, scratch, n);
    MG_VARIANT(outliers)(&p->outliers, in, base->in_c, &to, n);
}
#include "mcugen/finish_end__mve.h"
