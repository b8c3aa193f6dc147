/* SPDX-License-Identifier: Apache-2.0
 *
 * Grouped or transposed convolution. A work-item computes one channel of one pixel.
 *
 * weights     [taps of a group][channels]
 * TRANSPOSED  1: tap k of row y reads row (y + pad - k) / stride, if that is an integer
 * INT8        1: data and results are int8; taps outside the image read the zero point, which the bias accounts for
 * LINE        1: results are rounded as in line.h
 * HALF        1: data, weights and results are stored as half
 */
#if INT8
#define DATA char
#define SUM int
#define MUL_ADD(a, b, c) ((c) + (a) * (b))
#else
#define DATA MG_FLOAT
#define SUM float
#define MUL_ADD(a, b, c) fma(a, b, c)
#endif
#if TRANSPOSED
#define PLACE(at, k, stride, pad, dilation) \
    ((at) + (pad) - (k) >= 0 && ((at) + (pad) - (k)) % (stride) == 0 ? ((at) + (pad) - (k)) / (stride) : -1)
#else
#define PLACE(at, k, stride, pad, dilation) ((at) * (stride) - (pad) + (k) * (dilation))
#endif
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, global const uchar *restrict mem_weights, const uint at_weights,
    global const uchar *restrict mem_bias, const uint at_bias,
#if INT8
    global const uchar *restrict mem_mult, const uint at_mult, global const uchar *restrict mem_shift, const uint at_shift,
#if LINE
    global const uchar *restrict mem_line, const uint at_line,
#endif
    const int in_zero_point, const int out_zero_point, const int out_min, const int out_max, const int rounding,
#else
    const float out_min, const float out_max,
#endif
    const int pitch_in0, const int pitch_out, const int in_h, const int in_w, const int out_h, const int out_w,
    const int stride_h, const int stride_w, const int dilation_h, const int dilation_w, const int pad_h, const int pad_w,
    const int kernel_h, const int kernel_w, const int group_in, const int group_out, const int channels, const int total)
{
    const int i = (int)get_global_id(0);
    if (i >= total) {
        return;
    }
    const int o = i % channels, pixel = i / channels, ox = pixel % out_w, row = pixel / out_w, oy = row % out_h;
    global const DATA *const x =
        MG_AT(const DATA, in0) + (size_t)(row / out_h) * in_h * in_w * pitch_in0 + o / group_out * group_in;
    global const DATA *w = MG_AT(const DATA, weights) + o;
    SUM sum = MG_AT(const SUM, bias)[o];
    for (int kh = 0; kh < kernel_h; kh++) {
        const int iy = PLACE(oy, kh, stride_h, pad_h, dilation_h);
        for (int kw = 0; kw < kernel_w; kw++) {
            const int ix = PLACE(ox, kw, stride_w, pad_w, dilation_w);
            const bool inside = (uint)iy < (uint)in_h && (uint)ix < (uint)in_w;
            global const DATA *const from = x + (inside ? (iy * in_w + ix) * pitch_in0 : 0);
            for (int c = 0; c < group_in; c++) {
#if INT8
                sum = MUL_ADD(inside ? (int)from[c] : in_zero_point, (int)*w, sum);
#else
                sum = inside ? MUL_ADD(MG_LOAD(from + c), MG_LOAD(w), sum) : sum;
#endif
                w += channels;
            }
        }
    }
    global DATA *const y = MG_AT(DATA, out) + (size_t)pixel * pitch_out + o;
#if INT8
    *y = (char)MG_RESULT(sum, o, MG_AT(const int, mult)[o], MG_AT(const int, shift)[o], rounding, out_zero_point, out_min,
                         out_max);
#else
    MG_STORE(fmin(fmax(sum, out_min), out_max), y);
#endif
}
