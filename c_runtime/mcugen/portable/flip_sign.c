/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/flip_sign.h"

void mg_flip_sign(const void *in, void *out, uint32_t n)
{
    const uint32_t whole = (((uintptr_t)in | (uintptr_t)out) & 3u) == 0u ? n & ~3u : 0u;
    const mg_u32 *const words = in;
    mg_u32 *const to_words = out;
    const uint8_t *const from = in;
    uint8_t *const to = out;
    for (uint32_t i = 0u; i < whole / 4u; i += 1u) {
        to_words[i] = words[i] ^ 0x80808080u;
    }
    for (uint32_t i = whole; i < n; i += 1u) {
        to[i] = (uint8_t)(from[i] ^ 0x80u);
    }
}
