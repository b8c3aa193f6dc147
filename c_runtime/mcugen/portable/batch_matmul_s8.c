/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/batch_matmul_s8.h"

typedef int8_t mg_batch_matmul_s8_x;
typedef int32_t mg_batch_matmul_s8_acc;

#define MG_TYPE batch_matmul_s8
#define MG_SYMBOL mg_batch_matmul_s8
static int8_t MG_NAME(finish)(const MG_NAME(params) *p, int32_t sum)
{
    const int32_t y = mg_requantize(sum, p->mult, p->shift);
    return (int8_t)mg_clamp((int32_t)((uint32_t)y + (uint32_t)p->out_zero_point), p->out_min, p->out_max);
}

#include "mcugen/batch_matmul_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
