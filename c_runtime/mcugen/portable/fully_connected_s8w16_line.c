/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8w16 -> s16, int8_t -> mg_s16, int16 -> int8
 * s8w16 -> s8, int16 -> int8
 * line -> single
 * s8w16_line -> s8_single, int16 -> int8, line -> single
 */
#include "mcugen/fully_connected_s8w16_line.h"

typedef int8_t mg_fully_connected_s8w16_line_x;
typedef int16_t mg_fully_connected_s8w16_line_w;
typedef int32_t mg_fully_connected_s8w16_line_acc;

#define MG_TYPE fully_connected_s8w16_line
#define MG_SYMBOL mg_fully_connected_s8w16_line
static int8_t MG_NAME(finish)(const MG_NAME(params) *p, uint32_t o, int32_t sum)
{
    return (int8_t)mg_line_at(&p->line, o, sum);
}

#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
