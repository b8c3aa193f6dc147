/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: converts the sums of kernels on int8 data to outputs. Needs MG_NAME(params) and MG_NAME(acc).
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

/* If all shifts go to the right, a loop of its own serves all outputs, so that no output pays for the general case. */
static inline void MG_NAME(store_run)(const MG_NAME(params) *p, uint32_t o, uint32_t n, const MG_NAME(acc) *acc, int8_t *out)
{
    const int32_t *const mult = p->mult + o;
    const int8_t *const shift = p->shift + o;
    const int32_t zero_point = p->out_zero_point, low = p->out_min, high = p->out_max;
    if (p->all_right != 0u) {
        for (uint32_t k = 0u; k < n; k += 1u) {
            const int32_t y = mg_requantize_right((int32_t)(uint32_t)acc[k], mult[k], shift[k]) + zero_point;
            out[k] = (int8_t)mg_clamp(y, low, high);
        }
    } else {
        for (uint32_t k = 0u; k < n; k += 1u) {
            const int32_t y = mg_requantize((int32_t)(uint32_t)acc[k], mult[k], shift[k]) + zero_point;
            out[k] = (int8_t)mg_clamp(y, low, high);
        }
    }
}
