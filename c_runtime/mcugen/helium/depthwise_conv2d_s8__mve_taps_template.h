/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/depthwise_conv2d_s8__mve_taps.h"

MG_DECLARE_depthwise_conv2d_s8__mve_taps(MG_KERNEL);

#define MG_NEAR 0
#include "mcugen/depthwise_conv2d_s8_taps__mve.h"
#undef MG_NEAR
