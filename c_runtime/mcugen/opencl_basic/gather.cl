/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies the elements that indices select. A work-item copies one word of WORD_BYTES bytes. Indices outside the axis
 * are clamped to its ends. WIDE: 1: indices are 64-bit.
 */
#if WIDE
#define INDEX long
#else
#define INDEX int
#endif
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global const uchar *restrict mem_in1,
    const uint at_in1, global uchar *restrict mem_out, const uint at_out, const int outer, const int count, const int size,
    const int run, const int total)
{
    const int i = (int)get_global_id(0);
    if (i >= total) {
        return;
    }
    const int word = i % run, k = i / run % count, row = i / run / count;
    const INDEX index = MG_AT(const INDEX, in1)[row / outer * count + k];
    const int at = (int)clamp(index, (INDEX)0, (INDEX)(size - 1));
    MG_AT(MG_WORD(WORD_BYTES), out)[i] = MG_AT(const MG_WORD(WORD_BYTES), in0)[((size_t)row * size + at) * run + word];
}
