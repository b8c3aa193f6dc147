/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: an output of a fully connected layer on int16 data, on top of filter_s16_template.h.
 */
static inline int16_t MG_NAME(finish)(const MG_NAME(params) *p, uint32_t o, MG_NAME(acc) acc)
{
    const uint32_t k = o * p->scale_stride;
    if (p->rounds_once != 0u) {
        const int32_t y = sizeof acc == sizeof(int32_t) ? mg_requantize_away(acc, p->mult[k], p->shift[k])
                                                        : mg_requantize_away_any(acc, p->mult[k], p->shift[k]);
        return (int16_t)mg_clamp(y, p->out_min, p->out_max);
    }
    return MG_NAME(store)(p, k, acc);
}
