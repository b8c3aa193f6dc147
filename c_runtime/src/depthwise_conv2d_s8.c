/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/depthwise_conv2d_s8.h"

static inline int8_t mg_depthwise_conv2d_s8_store(const mg_depthwise_conv2d_s8_params *p, uint32_t o, int32_t acc)
{
    const int32_t y = mg_requantize(acc, p->mult[o], p->shift[o]) + p->out_zero_point;
    return (int8_t)mg_clamp(y, p->out_min, p->out_max);
}

#define MG_X int8_t
#define MG_W int8_t
#define MG_ACC int32_t
#define MG_PARAMS mg_depthwise_conv2d_s8_params
#define MG_KERNEL mg_depthwise_conv2d_s8
#define MG_NAME(f) mg_depthwise_conv2d_s8_##f
#define MG_STORE mg_depthwise_conv2d_s8_store
#include "mcugen/depthwise_conv2d_template.h"
