/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over any axes. A work-item computes one result.
 *
 * kept, reduced  sizes of up to three axes that are kept, and of three that are summed, slowest first; adjacent axes
 *                are merged
 * HALF           1: data and results are stored as half
 */
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, global const uchar *restrict mem_kept, const uint at_kept,
    global const uchar *restrict mem_kept_stride, const uint at_kept_stride,
    global const uchar *restrict mem_reduced, const uint at_reduced,
    global const uchar *restrict mem_reduced_stride, const uint at_reduced_stride, const float divisor, const int total)
{
    const uint i = (uint)get_global_id(0);
    if (i >= (uint)total) {
        return;
    }
    global const uint *const kept = MG_AT(const uint, kept), *const step = MG_AT(const uint, kept_stride);
    global const uint *const n = MG_AT(const uint, reduced), *const s = MG_AT(const uint, reduced_stride);
    global const MG_FLOAT *x = MG_AT(const MG_FLOAT, in0) + i % kept[2] * step[2] + i / kept[2] % kept[1] * step[1] +
                            i / kept[2] / kept[1] * step[0];
    float sum = 0.0f;
    for (uint a = 0u; a < n[0]; a++) {
        for (uint b = 0u; b < n[1]; b++) {
            for (uint c = 0u; c < n[2]; c++) {
                sum += MG_LOAD(x + a * s[0] + b * s[1] + c * s[2]);
            }
        }
    }
    MG_STORE(sum / divisor, MG_AT(MG_FLOAT, out) + i);
}
