/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the kernels of depthwise_conv2d_s8__mve.h: storing an input row, and interleaving rows into words. MG_ROW:
 * type and linkage of the function that stores a row.
 */
MG_ROW MG_VARIANT(row)(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row)
{
    const uint32_t room = p->row_bytes - p->left_bytes, used = p->in_bytes < room ? p->in_bytes : room;
    if (in == NULL) {
        mg_fill_bytes(row, p->in_zero_point, p->row_bytes);
    } else {
        mg_fill_bytes(row, p->in_zero_point, p->left_bytes);
        mg_copy_bytes(row + p->left_bytes, in, used);
        mg_fill_bytes(row + p->left_bytes + used, p->in_zero_point, room - used);
    }
}

#if MG_HAS_MVE
/* Interleaves four rows of n * 16 bytes into words with a byte of each. */
static void MG_VARIANT(weave)(const int8_t *a, const int8_t *b, const int8_t *c, const int8_t *d, int8_t *out, uint32_t n)
{
    __asm__ volatile("dls lr, %5\n"
                     "1:\n"
                     "vldrb.u8 q0, [%0], #16\n"
                     "vldrb.u8 q1, [%1], #16\n"
                     "vldrb.u8 q2, [%2], #16\n"
                     "vldrb.u8 q3, [%3], #16\n"
                     "vst40.8 {q0, q1, q2, q3}, [%4]\n"
                     "vst41.8 {q0, q1, q2, q3}, [%4]\n"
                     "vst42.8 {q0, q1, q2, q3}, [%4]\n"
                     "vst43.8 {q0, q1, q2, q3}, [%4]!\n"
                     "le lr, 1b\n"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(out)
                     : "r"(n)
                     : "q0", "q1", "q2", "q3", "lr", "cc", "memory");
}
#else
static void MG_VARIANT(weave)(const int8_t *a, const int8_t *b, const int8_t *c, const int8_t *d, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n * 16u; i += 1u) {
        out[4u * i] = a[i];
        out[4u * i + 1u] = b[i];
        out[4u * i + 2u] = c[i];
        out[4u * i + 3u] = d[i];
    }
}
#endif

static void MG_VARIANT(weave_all)(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out)
{
    const uint32_t last = p->kernel_h - 1u;
    for (uint32_t k = 0u; k <= last; k += 4u) {
        MG_VARIANT(weave)(rows[k], rows[k + 1u < last ? k + 1u : last], rows[k + 2u < last ? k + 2u : last],
                          rows[k + 3u < last ? k + 3u : last], out + k * p->row_bytes, p->row_bytes / 16u);
    }
}
