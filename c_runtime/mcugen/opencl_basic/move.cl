/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies words of SIZE bytes along AXES nested loops, with strides in bytes. A work-item writes one word of the result.
 * befores: per loop, the words before the operand; then, per loop, the operand's size. Words outside the operand become
 * `value`.
 */
#if SIZE == 1
#define WORD uchar
#elif SIZE == 2
#define WORD ushort
#elif SIZE == 4
#define WORD uint
#elif SIZE == 16
#define WORD uint4
#else
#define WORD ulong
#endif
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, global const uchar *restrict mem_dims, const uint at_dims,
    global const uchar *restrict mem_in_stride, const uint at_in_stride,
    global const uchar *restrict mem_befores, const uint at_befores,
    global const uchar *restrict mem_value, const uint at_value, const int offset, const int total)
{
    const int i = (int)get_global_id(0);
    if (i >= total) {
        return;
    }
    global const int *const dims = MG_AT(const int, dims), *const step = MG_AT(const int, in_stride);
    global const int *const before = MG_AT(const int, befores);
    int rest = i, from = offset;
    bool inside = true;
    for (int k = AXES - 1; k >= 0; k--) {
        const int at = rest % dims[k] - before[k];
        rest /= dims[k];
        from += at * step[k];
        inside = inside && at >= 0 && at < before[AXES + k];
    }
    WORD v = *MG_AT(const WORD, value);
    if (inside) {
        v = *(global const WORD *)(mem_in0 + at_in0 + from);
    }
    MG_AT(WORD, out)[i] = v;
}
