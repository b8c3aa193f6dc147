/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: an output of a fully connected layer on int16 data, on top of filter_s16_template.h.
 */
static inline int16_t MG_NAME(finish)(const MG_NAME(params) *p, uint32_t o, MG_NAME(acc) acc)
{
    return MG_NAME(store)(p, o * p->scale_stride, acc);
}
