/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/integer_softmax_s8.h"
#include "mcugen/integer_softmax_row.h"

void mg_integer_softmax_s8(const mg_integer_softmax_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        mg_softmax_keys(p, in + i * p->classes, out + i * p->classes, p->classes);
    }
}
