/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/swar_vector_s8.h"

#define MG_SWAR_SIGNED 0
#include "mcugen/swar_vector_outputs.h"

/* Copies n elements and adds 128 to each; word by word if they are aligned. */
static void mg_swar_biased(const int8_t *in, uint8_t *to, uint32_t n)
{
    const uint32_t whole = ((uintptr_t)in & 3u) == 0u ? n & ~15u : 0u;
    const mg_u32 *const from = (const mg_u32 *)(const void *)in;
    mg_u32 *const words = (mg_u32 *)(void *)to;
    for (uint32_t k = 0u; k < whole / 4u; k += 4u) {
        words[k] = from[k] ^ 0x80808080u;
        words[k + 1u] = from[k + 1u] ^ 0x80808080u;
        words[k + 2u] = from[k + 2u] ^ 0x80808080u;
        words[k + 3u] = from[k + 3u] ^ 0x80808080u;
    }
    for (uint32_t k = whole; k < n; k += 1u) {
        to[k] = (uint8_t)(in[k] + 128);
    }
}

void mg_fully_connected_s8__swar(const mg_swar_vector_s8_params *p, const int8_t *in, int8_t *out, void *scratch,
                                 uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const uint32_t *w = p->stream;
        mg_swar_biased(in + i * p->taps, scratch, p->taps);
        for (uint32_t b = 0u; b < p->blocks; b += 1u) {
            uint32_t sums[MG_SWAR_OUTPUTS];
            w = mg_swar_outputs(p, mg_swar_eight(w + 1, scratch, sums, w[0]), sums, out + i * p->outputs);
        }
    }
}
