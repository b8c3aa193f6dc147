/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: an output of a fully connected layer on int8 data.
 */
static int8_t MG_NAME(finish)(const MG_NAME(params) *p, uint32_t o, MG_NAME(acc) acc)
{
    const int32_t sum = (int32_t)(uint32_t)acc;
    const int32_t mult = p->mult[o * p->scale_stride];
    const int32_t shift = p->shift[o * p->scale_stride];
    int32_t y;
    if (p->rounds_once == 0u) {
        y = mg_requantize(sum, mult, shift);
    } else if (sizeof acc == sizeof sum) {
        y = mg_requantize_away(sum, mult, shift);
    } else {
        y = mg_requantize_away_any(sum, mult, shift);
    }
    y = (int32_t)((uint32_t)y + (uint32_t)(int32_t)p->out_zero_point);
    return (int8_t)mg_clamp(y, p->out_min, p->out_max);
}
