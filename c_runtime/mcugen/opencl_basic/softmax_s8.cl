/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of int8 over the last axis, with the bits of the C kernel. A work-item computes one vector.
 */
#include "mcugen/reciprocal.h"
#define EXPONENTIAL(below) ((below) < exp_length ? MG_AT(const int, exp)[below] : 0)
kernel void KERNEL(global const uchar *mem_in0, const uint at_in0, global uchar *mem_out, const uint at_out,
    global const uchar *restrict mem_exp, const uint at_exp, const int exp_length, const int classes, const int total)
{
    const int i = (int)get_global_id(0);
    if (i >= total) {
        return;
    }
    global const char *const x = MG_AT(const char, in0) + i * classes;
    int most = x[0], sum = 0;
    for (int k = 1; k < classes; k++) {
        most = max(most, (int)x[k]);
    }
    for (int k = 0; k < classes; k++) {
        sum += mg_divide_by_pot(EXPONENTIAL(most - x[k]), 12u);
    }
    const uint zeros = mg_leading_zeros((uint)sum);
    /* If the sum is 2^28 or more, every result is below half a step, that is, 0. */
    const int scale = zeros < 4u ? 0 : mg_one_over_one_plus((int)(((uint)sum << zeros) - 0x80000000u));
    const uint shift = (35u - zeros) & 31u;
    for (int k = 0; k < classes; k++) {
        const int y = mg_divide_by_pot(mg_high_mul(EXPONENTIAL(most - x[k]), scale), shift);
        MG_AT(char, out)[i * classes + k] = (char)mg_clamp(y - 128, -128, 127);
    }
}
