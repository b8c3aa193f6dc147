/* SPDX-License-Identifier: Apache-2.0
 *
 * An output row of any size from gathered patches. MG_CONV, MG_ROW: type, linkage and name of the kernel's function and
 * of the function that stores an input row.
 */
#include "mcugen/conv2d_s8_shared_line__mve.h"

MG_ROW(const mg_conv2d_s8__mve_shared_params *p, const int8_t *in, int8_t *row)
{
    mg_fill_bytes(row, p->in_zero_point, p->row_bytes);
    if (in != NULL) {
        mg_copy_bytes(row + p->left_bytes, in, p->row_used);
    }
}

MG_CONV(const mg_conv2d_s8__mve_shared_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)
{
    int8_t *patch = scratch;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        int8_t *to = patch;
        for (uint32_t k = 0u; k < p->kernel_h; k += 1u) {
            const int8_t *from = rows[k] + x * p->stride;
            for (uint32_t j = 0u; j < p->runs; j += 1u) {
                mg_copy_bytes(to, from, p->run_length);
                to += p->run_length;
                from += p->run_stride;
            }
        }
        patch += p->steps * 16u;
    }
    MG_VARIANT(line)(p, scratch, out);
}
#include "mcugen/finish_end__mve.h"
