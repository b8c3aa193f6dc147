/* SPDX-License-Identifier: Apache-2.0 */
#define MG_KERNEL mg_dense_s8__mve_once_long
#define MG_LINEAR 2
#define MG_CLAMP 0
#define MG_LONG 1
#include "mcugen/dense_s8_template__mve.h"
#undef MG_KERNEL
#undef MG_LINEAR
#undef MG_CLAMP
#undef MG_LONG
