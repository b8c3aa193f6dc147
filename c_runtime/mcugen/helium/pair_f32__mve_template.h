/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of elementwise_f32__mve.h on two tensors. MG_PAIR: its name; MG_VECTOR: the vector instruction; MG_OF(a, b):
 * the operation on two numbers in C.
 */
#include "mcugen/elementwise_f32__mve.h"
#include "mcugen/f32_bounded.h"
#include "mcugen/mve.h"

void MG_PAIR(const mg_elementwise_f32__mve_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n)
{
#if MG_HAS_MVE_FLOAT
    __asm__ volatile("vdup.32 q2, %4\n"
                     "vdup.32 q3, %5\n"
                     "wlstp.32 lr, %3, 2f\n"
                     "1:\n"
                     "vldrw.u32 q0, [%0], #16\n"
                     "vldrw.u32 q1, [%1], #16\n"
                     MG_VECTOR " q0, q0, q1\n"
                     "vmax.s32 q0, q0, q2\n"
                     "vmin.s32 q0, q0, q3\n"
                     "vstrw.32 q0, [%2], #16\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : "+r"(a), "+r"(b), "+r"(out)
                     : "r"(n), "r"(p->low), "r"(p->high)
                     : "q0", "q1", "q2", "q3", "lr", "cc", "memory");
#else
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = mg_f32_bounded(p->low, p->high, MG_OF(a[i], b[i]));
    }
#endif
}
