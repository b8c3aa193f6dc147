/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of bytes by a table of 256 entries.
 */
kernel void KERNEL(global const uchar *mem_in0, const uint at_in0, global uchar *mem_out, const uint at_out,
    global const uchar *restrict mem_table, const uint at_table, const int total)
{
    const int i = (int)get_global_id(0);
    if (i < total) {
        MG_AT(uchar, out)[i] = MG_AT(const uchar, table)[MG_AT(const uchar, in0)[i]];
    }
}
