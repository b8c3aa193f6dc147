/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two computed matrices, one pair of matrices per batch. A work-item computes one result.
 *
 * first         [batch][2]: first element of both matrices
 * a_row, a_col  elements from a row or column of the first matrix to the next; b_row, b_col: of the second
 * INT8          1: data and results are int8, sums are int
 * HALF          1: data and results are stored as half
 */
#if INT8
#define DATA char
#define SUM int
#define PRODUCT(a, b) (((int)(a) - a_zero_point) * ((int)(b) - b_zero_point))
#else
#define DATA MG_FLOAT
#define SUM float
#define PRODUCT(a, b) ((a) * (b))
#endif
kernel void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global const uchar *restrict mem_in1,
    const uint at_in1, global uchar *restrict mem_out, const uint at_out, global const uchar *restrict mem_first,
    const uint at_first,
#if INT8
    const int a_zero_point, const int b_zero_point, const int mult, const int shift, const int out_zero_point,
    const int out_min, const int out_max,
#endif
    const int rows, const int depth, const int cols, const int a_row, const int a_col, const int b_row, const int b_col,
    const int total)
{
    const int i = (int)get_global_id(0);
    if (i >= total) {
        return;
    }
    const int col = i % cols, row = i / cols % rows, batch = i / cols / rows;
    global const uint *const first = MG_AT(const uint, first) + 2 * batch;
    global const DATA *const a = MG_AT(const DATA, in0) + first[0] + row * a_row;
    global const DATA *const b = MG_AT(const DATA, in1) + first[1] + col * b_col;
    SUM sum = 0;
    for (int k = 0; k < depth; k++) {
        sum += PRODUCT(MG_LOAD(a + k * a_col), MG_LOAD(b + k * b_row));
    }
#if INT8
    MG_AT(char, out)[i] = (char)mg_stored(sum, mult, shift, 0, out_zero_point, out_min, out_max);
#else
    MG_STORE(sum, MG_AT(DATA, out) + i);
#endif
}
