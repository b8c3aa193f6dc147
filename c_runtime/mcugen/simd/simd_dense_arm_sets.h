/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the products of simd_dense.h with int8 weights, for the sets plain and neon.
 */
#include "mcugen/simd_plain.h"

#define MG_DATA s8
#define MG_WEIGHT s8
#define MG_BLOCKS 8u

#define MG_SET plain
#define MG_MOST 1u
#define MG_DEEP 0
#include "mcugen/simd_dense_template.h"
#undef MG_SET
#undef MG_MOST
#undef MG_DEEP

#if MG_HAS_ARM
#include "mcugen/simd_neon.h"

#define MG_SET neon
#define MG_MOST 2u
#define MG_DEEP 2
#include "mcugen/simd_dense_template.h"
#undef MG_SET
#undef MG_MOST
#undef MG_DEEP
#endif
