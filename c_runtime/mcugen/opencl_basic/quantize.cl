/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts real numbers to stored bytes. A work-item converts one.
 *
 * begins  for each result but the lowest, the smallest number that becomes this result. OpenCL C does not guarantee
 *         exact division. A product gives an approximate result, and comparisons with `begins` give the exact one. NaN
 *         becomes the lowest
 * SIGNED  1: the bytes are signed
 * HALF    1: the numbers are stored as half
 */
#if SIGNED
#define STORED char
#else
#define STORED uchar
#endif
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, global const uchar *restrict mem_begins, const uint at_begins, const float inverse,
    const int zero_point, const int out_min, const int total)
{
    const int i = (int)get_global_id(0);
    if (i >= total) {
        return;
    }
    global const float *const begins = MG_AT(const float, begins) - 1;
    const float x = MG_LOAD(MG_AT(const MG_FLOAT, in0) + i);
    int y = clamp(convert_int_rte(fmin(fmax(x * inverse, -512.0f), 512.0f)) + zero_point - out_min, 0, 255);
    while (y < 255 && x >= begins[y + 1]) {
        y++;
    }
    while (y > 0 && !(x >= begins[y])) {
        y--;
    }
    MG_AT(STORED, out)[i] = (STORED)(y + out_min);
}
