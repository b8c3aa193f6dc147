/* SPDX-License-Identifier: Apache-2.0 */
#define MG_PAIR mg_sub_f32__mve
#define MG_VECTOR "vsub.f32"
#define MG_OF(a, b) ((a) - (b))
#include "mcugen/pair_f32__mve_template.h"
