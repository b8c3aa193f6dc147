/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/batch_matmul_s8_line.h"

typedef int8_t mg_batch_matmul_s8_line_x;
typedef int32_t mg_batch_matmul_s8_line_acc;

#define MG_TYPE batch_matmul_s8_line
#define MG_SYMBOL mg_batch_matmul_s8_line
static int8_t MG_NAME(finish)(const MG_NAME(params) *p, int32_t sum)
{
    return (int8_t)mg_line_at(&p->line, 0u, sum);
}

#include "mcugen/batch_matmul_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
