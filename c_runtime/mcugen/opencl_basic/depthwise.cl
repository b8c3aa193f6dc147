/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution. A work-item computes VEC channels of ROWS x COLUMNS pixels, which share the data that they
 * read. More than one row or column needs adjacent taps.
 *
 * KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W  the window
 * MULTIPLIER  output channels of an input channel; 1 if VEC is 4
 * INT8        1: data and results are int8, sums are int
 * LINE        1: results are rounded as in line.h
 * HALF        1: data, weights and results are stored as half
 */
#if INT8
#define DATA char
#define SUM int
#define OUTSIDE in_zero_point
#define MUL_ADD(a, b, c) ((c) + (a) * (b))
#else
#define DATA MG_FLOAT
#define SUM float
#define OUTSIDE 0.0f
#define MUL_ADD(a, b, c) fma(a, b, c)
#endif
#if VEC == 4
#define JOIN_(a) a##4
#define JOIN(a) JOIN_(a)
#define SUMS JOIN(SUM)
#if INT8
#define READ(p) MG_INTS(MG_FOUR(p))
#define WRITE(v, p) MG_STORE_FOUR(v, p)
#else
#define READ(p) MG_LOAD4(p)
#define WRITE(v, p) MG_STORE4(v, p)
#endif
#define READ_SUM(p) vload4(0, p)
#define RESULT MG_RESULT4
#else
#define SUMS SUM
#define READ(p) ((SUM)MG_LOAD(p))
#define READ_SUM(p) (*(p))
#define WRITE(v, p) MG_STORE(v, p)
#define RESULT MG_RESULT
#endif
#define HEIGHT ((ROWS - 1) * STRIDE_H + KERNEL_H)
#define WIDTH ((COLUMNS - 1) * STRIDE_W + KERNEL_W)
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
    const int dilation_h, const int dilation_w, const int pad_h, const int pad_w, const int channels, const int images)
{
    const int i = (int)get_global_id(0), runs = channels / VEC;
    const int rows = (out_h + ROWS - 1) / ROWS, columns = (out_w + COLUMNS - 1) / COLUMNS;
    const int c = i % runs * VEC, block = i / runs, row = block / columns, image = row / rows;
    if (image >= images) {
        return;
    }
    const int first_y = row % rows * ROWS, first_x = block % columns * COLUMNS;
    const int top = first_y * STRIDE_H - pad_h, left = first_x * STRIDE_W - pad_w;
    global const DATA *const x = MG_AT(const DATA, in0) + (size_t)image * in_h * in_w * pitch_in0 + c / MULTIPLIER;
    global const DATA *const w = MG_AT(const DATA, weights) + c;
    SUMS sum[ROWS][COLUMNS];
#pragma unroll
    for (int q = 0; q < ROWS; q++)
#pragma unroll
        for (int p = 0; p < COLUMNS; p++) {
            sum[q][p] = READ_SUM(MG_AT(const SUM, bias) + c);
        }
#pragma unroll
    for (int r = 0; r < HEIGHT; r++) {
        const int iy = top + r * dilation_h;
        SUMS tap[WIDTH];
#pragma unroll
        for (int k = 0; k < WIDTH; k++) {
            const int ix = left + k * dilation_w;
            const bool inside = (uint)iy < (uint)in_h && (uint)ix < (uint)in_w;
            tap[k] = inside ? READ(x + (iy * in_w + ix) * pitch_in0) : (SUMS)(OUTSIDE);
        }
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
            const int line = r - q * STRIDE_H;
            if (line >= 0 && line < KERNEL_H) {
#pragma unroll
                for (int k = 0; k < KERNEL_W; k++) {
                    const SUMS weight = READ(w + (line * KERNEL_W + k) * channels);
#pragma unroll
                    for (int p = 0; p < COLUMNS; p++) {
                        sum[q][p] = MUL_ADD(tap[p * STRIDE_W + k], weight, sum[q][p]);
                    }
                }
            }
        }
    }
#if INT8
    const SUMS mult = READ_SUM(MG_AT(const int, mult) + c), shift = READ_SUM(MG_AT(const int, shift) + c);
#endif
#pragma unroll
    for (int q = 0; q < ROWS; q++)
#pragma unroll
        for (int p = 0; p < COLUMNS; p++) {
            const int oy = first_y + q, ox = first_x + p;
            if (oy < out_h && ox < out_w) {
                global DATA *const y = MG_AT(DATA, out) + ((size_t)(image * out_h + oy) * out_w + ox) * pitch_out + c;
#if INT8
                WRITE(RESULT(sum[q][p], c, mult, shift, rounding, out_zero_point, out_min, out_max), y);
#else
                WRITE(fmin(fmax(sum[q][p], (SUMS)(out_min)), (SUMS)(out_max)), y);
#endif
            }
        }
}
