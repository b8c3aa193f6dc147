/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on one vector: weights [taps][pitch] are read once, by work-groups of 4 * LANES outputs and
 * GROUP / LANES parts of the taps, summed through local memory.
 */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out, const uint at_out,
    global const uchar *restrict mem_weights, const uint at_weights,
    global const uchar *restrict mem_bias, const uint at_bias, const float out_min, const float out_max,
    const int channels, const int pitch, const int taps)
{
    local float4 parts[GROUP];
    global const float *restrict const x = MG_AT(const float, in0);
    global const float *restrict const w = MG_AT(const float, weights);
    const int id = get_local_id(0), slice = id / LANES, n = ((int)get_group_id(0) * LANES + id % LANES) * 4;
    const int step = GROUP / LANES;
    float4 sum = (float4)(0.0f);
    if (n < pitch) {
        int k = slice;
        for (; k + 3 * step < taps; k += 4 * step) {
            const float4 w0 = vload4(0, w + (size_t)k * pitch + n);
            const float4 w1 = vload4(0, w + (size_t)(k + step) * pitch + n);
            const float4 w2 = vload4(0, w + (size_t)(k + 2 * step) * pitch + n);
            const float4 w3 = vload4(0, w + (size_t)(k + 3 * step) * pitch + n);
            sum = fma((float4)(x[k]), w0, sum);
            sum = fma((float4)(x[k + step]), w1, sum);
            sum = fma((float4)(x[k + 2 * step]), w2, sum);
            sum = fma((float4)(x[k + 3 * step]), w3, sum);
        }
        for (; k < taps; k += step) {
            sum = fma((float4)(x[k]), vload4(0, w + (size_t)k * pitch + n), sum);
        }
    }
    parts[id] = sum;
    for (int half_ = GROUP / 2; half_ >= LANES; half_ >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < half_) {
            parts[id] += parts[id + half_];
        }
    }
    if (id < LANES && n < channels) {
        const float4 v = fmin(fmax(parts[id] + vload4(0, MG_AT(const float, bias) + n), out_min), out_max);
        global float *const to = MG_AT(float, out) + n;
        MG_STORE_SOME(v, to, channels - n);
    }
}
