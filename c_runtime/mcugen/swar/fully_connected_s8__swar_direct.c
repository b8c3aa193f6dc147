/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/swar_vector_s8.h"

#define MG_SWAR_SIGNED 1
#include "mcugen/swar_vector_outputs.h"

void mg_fully_connected_s8__swar_direct(const mg_swar_vector_s8_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const uint32_t *w = p->stream;
        for (uint32_t b = 0u; b < p->blocks; b += 1u) {
            uint32_t sums[MG_SWAR_OUTPUTS];
            w = mg_swar_outputs(p, mg_swar_eight(w + 1, in + i * p->taps, sums, w[0]), sums, out + i * p->outputs);
        }
    }
}
