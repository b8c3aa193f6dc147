/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum or mean of each channel over the pixels of an image. A work-group computes LANES channels, in GROUP / LANES parts
 * of the pixels.
 *
 * INT8  1: sums of stored int8 minus their zero point are requantized; 0: float sums are divided
 * HALF  1: data and results are stored as half
 */
#if INT8
#define DATA char
#define SUM int
#else
#define DATA MG_FLOAT
#define SUM float
#endif
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out,
#if INT8
    const int mult, const int shift, const int in_zero_point_sum, const int out_zero_point,
#else
    const float divisor,
#endif
    const int pixels, const int channels)
{
    local SUM parts[GROUP];
    const int id = get_local_id(0), c = (int)get_group_id(0) * LANES + id % LANES, image = (int)get_group_id(1);
    global const DATA *const x = MG_AT(const DATA, in0) + (size_t)image * pixels * channels + c;
    SUM sum = 0;
    if (c < channels) {
        for (int p = id / LANES; p < pixels; p += GROUP / LANES) {
            sum += MG_LOAD(x + p * channels);
        }
    }
    parts[id] = sum;
    for (int half_ = GROUP / 2; half_ >= LANES; half_ >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < half_) {
            parts[id] += parts[id + half_];
        }
    }
    if (id < LANES && c < channels) {
#if INT8
        const int y = mg_requantize(parts[id] - in_zero_point_sum, mult, shift) + out_zero_point;
        MG_AT(char, out)[image * channels + c] = (char)mg_clamp(y, -128, 127);
#else
        MG_STORE(parts[id] / divisor, MG_AT(DATA, out) + image * channels + c);
#endif
    }
}
