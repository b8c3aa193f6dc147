/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s8w9_line.h"

typedef int8_t mg_fully_connected_s8w9_line_x;
typedef uint8_t mg_fully_connected_s8w9_line_w;
typedef int32_t mg_fully_connected_s8w9_line_acc;

#define MG_TYPE fully_connected_s8w9_line
#define MG_SYMBOL mg_fully_connected_s8w9_line
#define MG_NINE
static int8_t MG_NAME(finish)(const MG_NAME(params) *p, uint32_t o, int32_t sum)
{
    return (int8_t)mg_line_at(&p->line, o, sum);
}

#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_NINE
