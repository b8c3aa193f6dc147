/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the products of simd_dense.h with weights of the type MG_WEIGHT, for the sets plain and avx2.
 */
#include "mcugen/simd_plain.h"

#define MG_DATA u8
#define MG_DEEP 0
#define MG_BLOCKS 1u

#define MG_SET plain
#define MG_MOST 1u
#include "mcugen/simd_dense_template.h"
#undef MG_SET
#undef MG_MOST

#if MG_HAS_X86
#include "mcugen/simd_avx2.h"

#define MG_SET avx2
#define MG_MOST 4u
#include "mcugen/simd_dense_template.h"
#undef MG_SET
#undef MG_MOST
#endif
