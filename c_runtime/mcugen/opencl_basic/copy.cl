/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a tensor in other memory.
 */
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, const int size)
{
    const int i = (int)get_global_id(0);
    if (i < size) {
        mem_out[at_out + i] = mem_in0[at_in0 + i];
    }
}
