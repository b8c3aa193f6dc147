/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8w16 -> s8, int16 -> int8
 */
#include "mcugen/fully_connected_s8w16.h"

typedef int8_t mg_fully_connected_s8w16_x;
typedef int16_t mg_fully_connected_s8w16_w;
typedef int32_t mg_fully_connected_s8w16_acc;

#define MG_TYPE fully_connected_s8w16
#define MG_SYMBOL mg_fully_connected_s8w16
#include "mcugen/fully_connected_s8_finish_template.h"
#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
