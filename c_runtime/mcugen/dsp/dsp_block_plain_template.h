/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the computation of dsp_block_template.h in plain C.
 */

/* Word k of a pixel: taps 2k and 2k + 1. */
static inline int32_t MG_VARIANT(data)(const mg_dsp_job *job, uint32_t k, uint32_t pixel)
{
#if MG_SEGMENTS
    const uint32_t in_run = 2u * MG_QUADS + MG_PAIR;
    const mg_s16 *const run = ((const mg_s16 *const *)job->x)[k / in_run] + job->x_end / 2u;
    return *(const mg_s32 *)(const void *)(run + k % in_run * 2u + pixel * (MG_STEP / 2u));
#else
    return ((const mg_s32 *)job->x)[3u * k + pixel];
#endif
}

#if MG_COMPOSITE == 2
/* Adds the products of two taps. The halves of x are the taps' values. A byte of w is a + 16 * b, where a and b are a
 * tap's 4-bit weights for two channels; the bytes of the taps begin at bits `shift` and `shift` + 16.
 * sum[0] += 16 * a * value; sum[1] += (a + 16 * b) * value. */
static inline void MG_VARIANT(nibbles)(int32_t *sum, int32_t w, uint32_t shift, int32_t x)
{
    const int32_t first = mg_dsp_byte(w, shift), second = mg_dsp_byte(w, shift + 16u);
    const int32_t low = mg_dsp_low(x), high = mg_dsp_high(x);
    const int32_t a = low * mg_dsp_lower(first) + high * mg_dsp_lower(second);
    sum[0] = (int32_t)((uint32_t)sum[0] + (uint32_t)(16 * a));
    sum[1] = (int32_t)((uint32_t)sum[1] + (uint32_t)(low * first + high * second));
}

/* Adds the products of words k and k + 1 of a pixel to both sums. Returns the number of words read from w. */
static inline uint32_t MG_VARIANT(words)(int32_t *sum, const mg_dsp_job *job, const int32_t *w, uint32_t k, uint32_t pixel)
{
    MG_VARIANT(nibbles)(sum, *w, 0u, MG_VARIANT(data)(job, k, pixel));
    MG_VARIANT(nibbles)(sum, *w, 8u, MG_VARIANT(data)(job, k + 1u, pixel));
    return 1u;
}
#else
/* Adds the products of two taps to the sums of two channels. Returns the number of words read from w. */
static inline uint32_t MG_VARIANT(multiply)(int32_t *sum, const int32_t *w, int32_t x)
{
    const int32_t low = mg_dsp_low(x), high = mg_dsp_high(x);
#if MG_COMPOSITE
#ifdef MG_SUMMED
    const int32_t a0 = *w & 0xFF, a1 = *w >> 16 & 0xFF;
#else
    const int32_t a0 = (int8_t)(*w & 0xFF), a1 = (int8_t)(*w >> 16 & 0xFF);
#endif
    sum[0] = (int32_t)((uint32_t)sum[0] + (uint32_t)(low * a0) + (uint32_t)(high * a1));
    sum[1] = (int32_t)((uint32_t)sum[1] + (uint32_t)(low * mg_dsp_low(*w)) + (uint32_t)(high * mg_dsp_high(*w)));
    return 1u;
#else
    for (uint32_t c = 0u; c < 2u; c += 1u) {
        const uint32_t products = (uint32_t)(low * mg_dsp_low(w[c])) + (uint32_t)(high * mg_dsp_high(w[c]));
        sum[c] = (int32_t)((uint32_t)sum[c] + products);
    }
    return 2u;
#endif
}

static inline uint32_t MG_VARIANT(words)(int32_t *sum, const mg_dsp_job *job, const int32_t *w, uint32_t k, uint32_t pixel)
{
    return MG_VARIANT(multiply)(sum, w, MG_VARIANT(data)(job, k, pixel));
}
#endif

/* Computes a pair of channels of one pixel. Returns a pointer to the constants of the next pair. */
static inline const int32_t *MG_VARIANT(pixel)(const mg_dsp_job *job, const int32_t *w, int8_t *out, uint32_t pixel)
{
#if MG_SEGMENTS
    const uint32_t words = MG_SEGMENTS * (2u * MG_QUADS + MG_PAIR);
#else
    const uint32_t words = (uint32_t)((job->x_end - (uintptr_t)job->x) / 12u);
#endif
    int32_t sum[2] = {w[0], w[1]};
    w += 2;
    for (uint32_t k = 0u; k < words; k += MG_COMPOSITE == 2 ? 2u : 1u) {
        w += MG_VARIANT(words)(sum, job, w, k, pixel);
    }
#if MG_COMPOSITE == 2
    sum[1] = (int32_t)((uint32_t)sum[1] - (uint32_t)(sum[0] >> 4)) >> 3;
    sum[0] >>= 3;
#elif MG_COMPOSITE
    sum[1] = (int32_t)((uint32_t)sum[1] - (uint32_t)sum[0]);
    sum[0] *= 2;
#endif
#if MG_COMPOSITE == 1 && (MG_LINEAR == 1 || MG_LINEAR > 2)
    sum[1] >>= 7;
#endif
    for (uint32_t c = 0u; c < 2u; c += 1u) {
#if MG_LINEAR == 5
        const int32_t y = mg_dsp_scale_once(sum[c], w[c], w[c + 2u], MG_SHIFT);
#elif MG_LINEAR == 4
        const int32_t y = mg_dsp_scale_float(sum[c], w[c], w[c + 2u]);
#elif MG_LINEAR > 1
        const int32_t y = mg_dsp_scale_once(sum[c], w[c], w[c + 2u], w[c + 4u]);
#elif MG_LINEAR
        const int32_t y = mg_dsp_scale(sum[c], w[c], w[c + 2u], w[c + 4u]);
#elif MG_COMPOSITE == 1
        const int32_t y = c != 0u ? mg_dsp_scale_wide(sum[c], w[c], w[c + 2u], w[c + 4u])
                                  : mg_dsp_scale_clamped(sum[c], w[c], w[c + 2u], w[c + 4u]);
#else
        const int32_t y = mg_dsp_scale_clamped(sum[c], w[c], w[c + 2u], w[c + 4u]);
#endif
        out[c] = (int8_t)mg_clamp(y, -128, 127);
    }
    return w + (MG_LINEAR == 5 ? 4 : 6);
}

static void MG_VARIANT(block)(const mg_dsp_job *job, uint32_t pixels)
{
    const int32_t length = (int32_t)(MG_VARIANT(pixel)(job, job->stream, job->out, 0u) - job->stream);
    const int32_t pairs = (int32_t)(job->end - job->stream) / length;
    for (uint32_t pixel = 0u; pixel < job->blocks * pixels; pixel += 1u) {
        for (int32_t k = 0; k < pairs; k += 1) {
            int8_t *const out = job->out + pixel * job->out_c + 2 * k;
            (void)MG_VARIANT(pixel)(job, job->stream + k * length, out, pixel);
        }
    }
}

static inline void MG_VARIANT(block3)(const mg_dsp_job *job)
{
    MG_VARIANT(block)(job, 3u);
}

#if MG_REST
static inline void MG_VARIANT(block2)(const mg_dsp_job *job)
{
    MG_VARIANT(block)(job, 2u);
}
#endif
