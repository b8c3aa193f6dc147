/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the ends of the kernels on int8 data. Needs MG_NAME(params) and MG_NAME(acc).
 */
static inline int8_t MG_NAME(outside)(const MG_NAME(params) *p)
{
    return (int8_t)p->in_zero_point;
}

static inline int8_t MG_NAME(store)(const MG_NAME(params) *p, uint32_t o, MG_NAME(acc) acc)
{
    const int32_t y = mg_requantize((int32_t)(uint32_t)acc, p->mult[o], p->shift[o]) + p->out_zero_point;
    return (int8_t)mg_clamp(y, p->out_min, p->out_max);
}
