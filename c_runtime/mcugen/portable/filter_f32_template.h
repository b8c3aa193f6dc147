/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: converts the sums of kernels on float data to outputs. Needs MG_NAME(params).
 */
static inline float MG_NAME(outside)(const MG_NAME(params) *p)
{
    (void)p;
    return 0.0f;
}

static inline float MG_NAME(store)(const MG_NAME(params) *p, uint32_t o, float acc)
{
    const float floored = acc < p->out_min ? p->out_min : acc;
    (void)o;
    return floored > p->out_max ? p->out_max : floored;
}

static inline void MG_NAME(store_run)(const MG_NAME(params) *p, uint32_t o, uint32_t n, const float *acc, mg_f32 *out)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        out[k] = MG_NAME(store)(p, o + k, acc[k]);
    }
}
