/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s8_line.h"

typedef mg_fully_connected_s8_line_params mg_fully_connected_s8_line_nibbles_params;
typedef int8_t mg_fully_connected_s8_line_nibbles_x;
typedef int8_t mg_fully_connected_s8_line_nibbles_w;
typedef int32_t mg_fully_connected_s8_line_nibbles_acc;

#define MG_TYPE fully_connected_s8_line_nibbles
#define MG_SYMBOL mg_fully_connected_s8_line__nibbles
#define MG_NIBBLES
static int8_t MG_NAME(finish)(const MG_NAME(params) *p, uint32_t o, int32_t sum)
{
    return (int8_t)mg_line_at(&p->line, o, sum);
}

#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_NIBBLES
