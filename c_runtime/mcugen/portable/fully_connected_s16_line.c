/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s16_line.h"

typedef mg_s16 mg_fully_connected_s16_line_x;
typedef int8_t mg_fully_connected_s16_line_w;
typedef int32_t mg_fully_connected_s16_line_acc;

#define MG_TYPE fully_connected_s16_line
#define MG_SYMBOL mg_fully_connected_s16_line
static mg_s16 MG_NAME(finish)(const MG_NAME(params) *p, uint32_t o, int32_t sum)
{
    return (mg_s16)mg_line_at(&p->line, o, sum);
}

#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
