/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of single channels: a work-item makes VEC channels of one pixel. KERNEL_H, KERNEL_W: the window, so that
 * all reads may come before the first product. MULTIPLIER: results of each input channel, 1 with VEC 4. INT8: data and results are int8, sums int.
 */
#if INT8
#define DATA char
#define SUM int
#else
#define DATA float
#define SUM float
#endif
#if VEC == 4
#define JOIN_(a) a##4
#define JOIN(a) JOIN_(a)
#define SUMS JOIN(SUM)
#if INT8
#define READ(p) convert_int4(vload4(0, p))
#else
#define READ(p) vload4(0, p)
#endif
#define READ_SUM(p) vload4(0, p)
#else
#define SUMS SUM
#define READ(p) ((SUM)*(p))
#define READ_SUM(p) (*(p))
#endif
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, global const uchar *restrict mem_weights, const uint at_weights,
    global const uchar *restrict mem_bias, const uint at_bias,
#if INT8
    global const uchar *restrict mem_mult, const uint at_mult, global const uchar *restrict mem_shift, const uint at_shift,
    const int in_zero_point, const int out_zero_point, const int out_min, const int out_max, const int rounding,
#else
    const float out_min, const float out_max,
#endif
    const int in_h, const int in_w, const int out_h, const int out_w, const int stride_h, const int stride_w,
    const int dilation_h, const int dilation_w, const int pad_h, const int pad_w, const int channels, const int total)
{
    const int i = (int)get_global_id(0), runs = channels / VEC;
    if (i >= total) {
        return;
    }
    const int c = i % runs * VEC, pixel = i / runs, row = pixel / out_w;
    const int top = row % out_h * stride_h - pad_h, left = pixel % out_w * stride_w - pad_w;
    const int in_c = channels / MULTIPLIER;
    global const DATA *const x = MG_AT(const DATA, in0) + (size_t)(row / out_h) * in_h * in_w * in_c + c / MULTIPLIER;
    global const DATA *const w = MG_AT(const DATA, weights) + c;
    SUMS taps[KERNEL_H * KERNEL_W];
#pragma unroll
    for (int k = 0; k < KERNEL_H * KERNEL_W; k++) {
        const int iy = top + k / KERNEL_W * dilation_h, ix = left + k % KERNEL_W * dilation_w;
        const bool inside = (uint)iy < (uint)in_h && (uint)ix < (uint)in_w;
#if INT8
        taps[k] = inside ? READ(x + (iy * in_w + ix) * in_c) : (SUMS)(in_zero_point);
#else
        taps[k] = inside ? READ(x + (iy * in_w + ix) * in_c) : (SUMS)(0.0f);
#endif
    }
    SUMS sum = READ_SUM(MG_AT(const SUM, bias) + c);
#pragma unroll
    for (int k = 0; k < KERNEL_H * KERNEL_W; k++) {
#if INT8
        sum += taps[k] * READ(w + k * channels);
#else
        sum = fma(taps[k], READ(w + k * channels), sum);
#endif
    }
    global DATA *const y = MG_AT(DATA, out) + (size_t)pixel * channels + c;
#if INT8
    global const int *const mult = MG_AT(const int, mult) + c, *const shift = MG_AT(const int, shift) + c;
#if VEC == 4
    y[0] = (char)mg_stored(sum.x, mult[0], shift[0], rounding, out_zero_point, out_min, out_max);
    y[1] = (char)mg_stored(sum.y, mult[1], shift[1], rounding, out_zero_point, out_min, out_max);
    y[2] = (char)mg_stored(sum.z, mult[2], shift[2], rounding, out_zero_point, out_min, out_max);
    y[3] = (char)mg_stored(sum.w, mult[3], shift[3], rounding, out_zero_point, out_min, out_max);
#else
    *y = (char)mg_stored(sum, *mult, *shift, rounding, out_zero_point, out_min, out_max);
#endif
#else
    sum = fmin(fmax(sum, (SUMS)(out_min)), (SUMS)(out_max));
#if VEC == 4
    vstore4(sum, 0, y);
#else
    *y = sum;
#endif
#endif
}
#undef DATA
#undef SUM
#undef SUMS
#undef JOIN
#undef JOIN_
#undef READ
#undef READ_SUM
