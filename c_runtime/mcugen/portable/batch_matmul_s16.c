/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/batch_matmul_s16.h"

typedef mg_s16 mg_batch_matmul_s16_x;
typedef int64_t mg_batch_matmul_s16_acc;

#define MG_TYPE batch_matmul_s16
#define MG_SYMBOL mg_batch_matmul_s16
static int16_t MG_NAME(finish)(const MG_NAME(params) *p, int64_t sum)
{
    const int32_t y = mg_requantize_wide(sum, p->mult, p->shift);
    return (int16_t)mg_clamp((int32_t)((uint32_t)y + (uint32_t)p->out_zero_point), p->out_min, p->out_max);
}

#include "mcugen/batch_matmul_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
