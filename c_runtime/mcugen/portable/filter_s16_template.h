/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: converts the sums of kernels on int16 data to outputs. Needs MG_NAME(params) and MG_NAME(acc).
 */
static inline int16_t MG_NAME(outside)(const MG_NAME(params) *p)
{
    (void)p;
    return 0;
}

/* wide: 1 as in the runtimes with sums of 64 bits: mult has 16 bits, and the result is rounded once. */
static inline int16_t MG_NAME(store)(const MG_NAME(params) *p, uint32_t o, MG_NAME(acc) acc)
{
    const int32_t y = p->wide != 0u ? mg_requantize_wide(acc, p->mult[o], p->shift[o])
                                    : mg_requantize((int32_t)(uint32_t)acc, p->mult[o], p->shift[o]);
    return (int16_t)mg_clamp(y + p->out_zero_point, p->out_min, p->out_max);
}

static inline void MG_NAME(store_run)(const MG_NAME(params) *p, uint32_t o, uint32_t n, const MG_NAME(acc) *acc, mg_s16 *out)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        out[k] = MG_NAME(store)(p, o + k, acc[k]);
    }
}
