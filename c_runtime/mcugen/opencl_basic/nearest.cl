/* SPDX-License-Identifier: Apache-2.0
 *
 * Resizes images to the nearest pixels. rows, columns: the input row of each output row, and the input column of each
 * output column. A work-item copies one byte of a pixel.
 */
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out,
    const uint at_out, global const uchar *restrict mem_rows, const uint at_rows,
    global const uchar *restrict mem_columns, const uint at_columns, const int in_h, const int in_w, const int out_h,
    const int out_w, const int pixel, const int total)
{
    const int i = (int)get_global_id(0);
    if (i >= total) {
        return;
    }
    const int byte = i % pixel, x = i / pixel % out_w, row = i / pixel / out_w;
    const int from = (row / out_h * in_h + MG_AT(const int, rows)[row % out_h]) * in_w + MG_AT(const int, columns)[x];
    mem_out[at_out + i] = mem_in0[at_in0 + from * pixel + byte];
}
