/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * add -> sub, vadd -> vsub, + -> -
 * add -> mul, vadd -> vmul, + -> *
 */
#define MG_PAIR mg_add_f32__mve
#define MG_VECTOR "vadd.f32"
#define MG_OF(a, b) ((a) + (b))
#include "mcugen/pair_f32__mve_template.h"
