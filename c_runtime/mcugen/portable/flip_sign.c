/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/flip_sign.h"

void mg_flip_sign(const void *in, void *out, uint32_t n)
{
    const uint8_t *const from = in;
    uint8_t *const to = out;
    for (uint32_t i = 0u; i < n; i += 1u) {
        to[i] = (uint8_t)(from[i] ^ 0x80u);
    }
}
