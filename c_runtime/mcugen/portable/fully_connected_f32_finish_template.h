/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: an output of a fully connected layer on float data, on top of filter_f32_template.h.
 */
static inline float MG_NAME(finish)(const MG_NAME(params) *p, uint32_t o, float acc)
{
    return MG_NAME(store)(p, o, acc);
}
