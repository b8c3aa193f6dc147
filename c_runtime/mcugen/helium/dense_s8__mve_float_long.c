/* SPDX-License-Identifier: Apache-2.0 */
#define MG_KERNEL mg_dense_s8__mve_float_long
#define MG_LINEAR 3
#define MG_CLAMP 1
#define MG_LONG 1
#include "mcugen/dense_s8_template__mve.h"
#undef MG_KERNEL
#undef MG_LINEAR
#undef MG_CLAMP
#undef MG_LONG
