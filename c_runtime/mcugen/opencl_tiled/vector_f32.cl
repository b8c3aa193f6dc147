/* SPDX-License-Identifier: Apache-2.0
 *
 * A matrix times one vector. The matrix is read once: a work-group computes LANES outputs (4 * LANES if the matrix is
 * stored as [taps][channels]) in GROUP / LANES parts of the taps, which are added in local memory.
 *
 * PAIR   1: the matrix is computed too, one pair per batch
 * ALONG  1: the matrix is stored as [channels][taps]
 * FLIP   1: the vector is the second operand
 * HALF   1: vector, matrix and result are stored as half
 */
#if ALONG
#define SUM float
#else
#define SUM float4
#endif
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out, const uint at_out,
#if PAIR
    global const uchar *restrict mem_in1, const uint at_in1, global const uchar *restrict mem_first, const uint at_first,
#else
    global const uchar *restrict mem_weights, const uint at_weights,
    global const uchar *restrict mem_bias, const uint at_bias, const float out_min, const float out_max,
#endif
    const int channels, const int pitch, const int taps)
{
    local SUM parts[GROUP];
#if PAIR
    global const uint *const first = MG_AT(const uint, first) + 2 * get_group_id(1);
    global const float *restrict const left = MG_AT(const float, in0) + first[0];
    global const float *restrict const right = MG_AT(const float, in1) + first[1];
    global const float *restrict const x = FLIP ? right : left, *restrict const w = FLIP ? left : right;
    global float *const y = MG_AT(float, out) + get_group_id(1) * (size_t)channels;
#else
    global const MG_FLOAT *restrict const x = MG_AT(const MG_FLOAT, in0);
    global const MG_FLOAT *restrict const w = MG_AT(const MG_FLOAT, weights);
    global MG_FLOAT *const y = MG_AT(MG_FLOAT, out);
#endif
    const int id = get_local_id(0), step = GROUP / LANES;
#if ALONG
    /* Adjacent work-items read adjacent groups of four taps of the same row. */
    const int slice = id % step, lane = id / step, n = (int)get_group_id(0) * LANES + lane;
    global const float *restrict const row = w + (size_t)n * pitch;
    float4 sums = (float4)(0.0f);
    if (n < channels) {
        int k = 4 * slice;
        for (; k + 12 * step < taps; k += 16 * step) {
            const float4 w0 = vload4(0, row + k), w1 = vload4(0, row + k + 4 * step);
            const float4 w2 = vload4(0, row + k + 8 * step), w3 = vload4(0, row + k + 12 * step);
            sums = fma(vload4(0, x + k), w0, sums);
            sums = fma(vload4(0, x + k + 4 * step), w1, sums);
            sums = fma(vload4(0, x + k + 8 * step), w2, sums);
            sums = fma(vload4(0, x + k + 12 * step), w3, sums);
        }
        for (; k < taps; k += 4 * step) {
            sums = fma(vload4(0, x + k), vload4(0, row + k), sums);
        }
    }
    const float sum = (sums.x + sums.y) + (sums.z + sums.w);
#else
    const int slice = id / LANES, lane = id % LANES, n = ((int)get_group_id(0) * LANES + lane) * 4;
    float4 sum = (float4)(0.0f);
    if (n < pitch) {
        int k = slice;
        for (; k + 3 * step < taps; k += 4 * step) {
            const float4 w0 = MG_LOAD4(w + (size_t)k * pitch + n);
            const float4 w1 = MG_LOAD4(w + (size_t)(k + step) * pitch + n);
            const float4 w2 = MG_LOAD4(w + (size_t)(k + 2 * step) * pitch + n);
            const float4 w3 = MG_LOAD4(w + (size_t)(k + 3 * step) * pitch + n);
            sum = fma((float4)(MG_LOAD(x + k)), w0, sum);
            sum = fma((float4)(MG_LOAD(x + k + step)), w1, sum);
            sum = fma((float4)(MG_LOAD(x + k + 2 * step)), w2, sum);
            sum = fma((float4)(MG_LOAD(x + k + 3 * step)), w3, sum);
        }
        for (; k < taps; k += step) {
            sum = fma((float4)(MG_LOAD(x + k)), MG_LOAD4(w + (size_t)k * pitch + n), sum);
        }
    }
#endif
    parts[slice * LANES + lane] = sum;
    for (int half_ = GROUP / 2; half_ >= LANES; half_ >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < half_) {
            parts[id] += parts[id + half_];
        }
    }
#if ALONG
    if (id < LANES && (int)get_group_id(0) * LANES + id < channels) {
        y[(int)get_group_id(0) * LANES + id] = parts[id];
    }
#else
    if (id < LANES && n < channels) {
#if PAIR
        const float4 v = parts[id];
#else
        const float4 v = fmin(fmax(parts[id] + vload4(0, MG_AT(const float, bias) + n), out_min), out_max);
#endif
        MG_STORE_SOME(v, y + n, channels - n);
    }
#endif
}
