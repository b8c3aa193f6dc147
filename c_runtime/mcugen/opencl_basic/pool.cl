/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling. A work-item computes VEC channels of one pixel, from the taps inside the image.
 *
 * LARGEST  1: maximum; 0: mean
 * INT8     1: data are int8; a mean is of the taps plus `offset`, rounded to the nearest, halves away from zero
 * LINE     1: a mean is rounded as in line.h, with constants for each number of rows and columns inside the image
 * HALF     1: data and results are stored as half
 */
#if INT8
#define DATA char
#define SUM int
#define SMALLEST (-128)
#else
#define DATA MG_FLOAT
#define SUM float
#define SMALLEST (-INFINITY)
#endif
#if VEC == 4
#define JOIN_(a) a##4
#define JOIN(a) JOIN_(a)
#define SUMS JOIN(SUM)
#define TO_INTS convert_int4
#if INT8
#define READ(p) MG_INTS(MG_FOUR(p))
#define WRITE(v, p) MG_STORE_FOUR(convert_char4(v), p)
#else
#define READ(p) MG_LOAD4(p)
#define WRITE(v, p) MG_STORE4(v, p)
#endif
#else
#define SUMS SUM
#define TO_INTS convert_int
#define READ(p) ((SUM)MG_LOAD(p))
#define WRITE(v, p) MG_STORE(v, p)
#endif
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, const int pitch_in0, const int pitch_out, const int kernel_h, const int kernel_w,
    const int stride_h, const int stride_w, const int pad_h, const int pad_w, const int in_h, const int in_w,
    const int out_h, const int out_w, const int channels, const SUM out_min, const SUM out_max,
#if LINE
    global const uchar *restrict mem_mult, const uint at_mult, global const uchar *restrict mem_shift, const uint at_shift,
    global const uchar *restrict mem_line, const uint at_line, const int rounding, const int out_zero_point,
    const int min_rows, const int min_columns, const int pitch,
#elif INT8 && !LARGEST
    const int offset,
#endif
    const int total)
{
    const int i = (int)get_global_id(0), runs = channels / VEC;
    if (i >= total) {
        return;
    }
    const int c = i % runs * VEC, pixel = i / runs, row = pixel / out_w;
    const int top = row % out_h * stride_h - pad_h, left = pixel % out_w * stride_w - pad_w;
    const int first_y = max(top, 0), end_y = min(top + kernel_h, in_h);
    const int first_x = max(left, 0), end_x = min(left + kernel_w, in_w);
    global const DATA *const x = MG_AT(const DATA, in0) + (size_t)(row / out_h) * in_h * in_w * pitch_in0 + c;
#if LARGEST
    SUMS found = (SUMS)(SMALLEST);
#else
    SUMS found = (SUMS)(0);
#endif
    for (int iy = first_y; iy < end_y; iy++) {
        for (int ix = first_x; ix < end_x; ix++) {
            const SUMS v = READ(x + (iy * in_w + ix) * pitch_in0);
#if LARGEST
            found = v > found ? v : found;
#else
            found += v;
#endif
        }
    }
#if !LARGEST
    const int count = (end_y - first_y) * (end_x - first_x);
#if LINE
    const int at = (end_y - first_y - min_rows) * pitch + end_x - first_x - min_columns;
    const int mult = MG_AT(const int, mult)[at], shift = MG_AT(const int, shift)[at];
#define RESULT(sum) MG_RESULT(sum, at, mult, shift, rounding, out_zero_point, out_min, out_max)
#if VEC == 4
    found = (int4)(RESULT(found.x), RESULT(found.y), RESULT(found.z), RESULT(found.w));
#else
    found = RESULT(found);
#endif
#elif INT8
    found += (SUMS)(offset * count);
    const SUMS size = (TO_INTS(abs(found)) + count / 2) / count;
    found = (found < 0 ? -size : size) - offset;
#else
    found /= (SUMS)((float)count);
#endif
#endif
    found = found < (SUMS)(out_min) ? (SUMS)(out_min) : found > (SUMS)(out_max) ? (SUMS)(out_max) : found;
    WRITE(found, MG_AT(DATA, out) + (size_t)pixel * pitch_out + c);
}
