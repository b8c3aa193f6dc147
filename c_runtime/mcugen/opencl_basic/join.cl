/* SPDX-License-Identifier: Apache-2.0
 *
 * Concatenates PARTS tensors. A work-item copies one word of WORD_BYTES bytes. begins: for each tensor, its first word
 * in a row of run_out words of the result.
 */
#define OPERAND(k) \
    if (c >= begin[k]) { \
        const int run = begin[k + 1] - begin[k]; \
        v = MG_AT(const MG_WORD(WORD_BYTES), in##k)[outer * run + c - begin[k]]; \
    }
kernel void KERNEL(
#define TAKE(k) global const uchar *restrict mem_in##k, const uint at_in##k,
    TAKE(0)
#if PARTS > 1
    TAKE(1)
#endif
#if PARTS > 2
    TAKE(2)
#endif
#if PARTS > 3
    TAKE(3)
#endif
#if PARTS > 4
    TAKE(4)
#endif
#if PARTS > 5
    TAKE(5)
#endif
#if PARTS > 6
    TAKE(6)
#endif
#if PARTS > 7
    TAKE(7)
#endif
    global uchar *restrict mem_out, const uint at_out, global const uchar *restrict mem_begins, const uint at_begins,
    const int run_out, const int total)
{
    const int i = (int)get_global_id(0);
    if (i >= total) {
        return;
    }
    global const int *const begin = MG_AT(const int, begins);
    const int outer = i / run_out, c = i % run_out;
    MG_WORD(WORD_BYTES) v = (MG_WORD(WORD_BYTES))(0);
    OPERAND(0)
#if PARTS > 1
    OPERAND(1)
#endif
#if PARTS > 2
    OPERAND(2)
#endif
#if PARTS > 3
    OPERAND(3)
#endif
#if PARTS > 4
    OPERAND(4)
#endif
#if PARTS > 5
    OPERAND(5)
#endif
#if PARTS > 6
    OPERAND(6)
#endif
#if PARTS > 7
    OPERAND(7)
#endif
    MG_AT(MG_WORD(WORD_BYTES), out)[i] = v;
}
