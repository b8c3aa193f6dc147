/* SPDX-License-Identifier: Apache-2.0
 *
 * An int8 matrix times one vector. The matrix is stored as [channels][taps], with taps padded by zeros to a multiple of
 * four.
 * A work-group computes LANES outputs; adjacent work-items read adjacent words of the same row, in GROUP / LANES parts,
 * which are added in local memory.
 *
 * WHOLE  1: the vector is read in words, too
 * LINE   1: results are rounded as in line.h
 */
#if WHOLE
#define TAPS(k) MG_FOUR(x + (k))
#else
#define TAPS(k) mg_four_at(x, k, min(4, taps - (k)))
#endif
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out, const uint at_out,
    global const uchar *restrict mem_weights, const uint at_weights, global const uchar *restrict mem_bias, const uint at_bias,
    global const uchar *restrict mem_mult, const uint at_mult, global const uchar *restrict mem_shift, const uint at_shift,
#if LINE
    global const uchar *restrict mem_line, const uint at_line,
#endif
    const int out_zero_point, const int out_min, const int out_max, const int rounding, const int channels, const int pitch,
    const int taps)
{
    local int parts[GROUP];
    global const char *restrict const x = MG_AT(const char, in0);
    const int id = get_local_id(0), step = GROUP / LANES, slice = id % step, lane = id / step;
    const int n = (int)get_group_id(0) * LANES + lane;
    global const char *restrict const row = MG_AT(const char, weights) + (size_t)n * pitch;
    int4 sums = (int4)(0);
    if (n < channels) {
        int k = 4 * slice;
        for (; k + 12 * step < taps; k += 16 * step) {
            const uint w0 = MG_FOUR(row + k), w1 = MG_FOUR(row + k + 4 * step);
            const uint w2 = MG_FOUR(row + k + 8 * step), w3 = MG_FOUR(row + k + 12 * step);
            sums += MG_INTS(TAPS(k)) * MG_INTS(w0);
            sums += MG_INTS(TAPS(k + 4 * step)) * MG_INTS(w1);
            sums += MG_INTS(TAPS(k + 8 * step)) * MG_INTS(w2);
            sums += MG_INTS(TAPS(k + 12 * step)) * MG_INTS(w3);
        }
        for (; k < taps; k += 4 * step) {
            sums += MG_INTS(TAPS(k)) * MG_INTS(MG_FOUR(row + k));
        }
    }
    parts[slice * LANES + lane] = (sums.x + sums.y) + (sums.z + sums.w);
    for (int half_ = GROUP / 2; half_ >= LANES; half_ >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < half_) {
            parts[id] += parts[id + half_];
        }
    }
    const int o = (int)get_group_id(0) * LANES + id;
    if (id < LANES && o < channels) {
        const int total = parts[id] + MG_AT(const int, bias)[o];
        const int mult = MG_AT(const int, mult)[o], shift = MG_AT(const int, shift)[o];
        MG_AT(char, out)[o] = (char)MG_RESULT(total, o, mult, shift, rounding, out_zero_point, out_min, out_max);
    }
}
