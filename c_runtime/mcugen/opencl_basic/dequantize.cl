/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts stored integers to real numbers. A work-item converts one. BYTES, SIGNED: size and signedness of the
 * integers.
 * HALF: 1: results are stored as half.
 */
#if BYTES == 1 && SIGNED
#define STORED char
#elif BYTES == 1
#define STORED uchar
#elif BYTES == 2
#define STORED short
#else
#define STORED int
#endif
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, const float scale, const int zero_point, const int total)
{
    const int i = (int)get_global_id(0);
    if (i < total) {
        MG_STORE(scale * (float)((long)MG_AT(const STORED, in0)[i] - zero_point), MG_AT(MG_FLOAT, out) + i);
    }
}
