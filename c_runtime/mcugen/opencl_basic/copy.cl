/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a tensor to other memory. A work-item copies one word of WORD_BYTES bytes. The result has runs of `run` words,
 * pitch_out elements apart. word: elements of a word.
 */
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, const int pitch_out, const int run, const int word, const int total)
{
    const int i = (int)get_global_id(0);
    if (i < total) {
        MG_AT(MG_WORD(WORD_BYTES), out)[i / run * (pitch_out / word) + i % run] = MG_AT(const MG_WORD(WORD_BYTES), in0)[i];
    }
}
