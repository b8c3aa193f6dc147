/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8__mve_shared.h"

MG_DECLARE_conv2d_s8__mve_shared(MG_KERNEL);

#define MG_CONV MG_LINKAGE void MG_KERNEL
#define MG_ROW MG_LINKAGE void MG_VARIANT(row)
#include "mcugen/conv2d_s8_shared__mve.h"
#undef MG_CONV
#undef MG_ROW
