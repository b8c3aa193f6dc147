/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/channel_tables_b1.h"

void mg_channel_tables_b1(const mg_channel_tables_b1_params *p, const void *in, void *out, uint32_t n)
{
    const uint8_t *from = in;
    uint8_t *to = out;
    for (uint32_t i = 0u; i < n; i += 1u) {
        const uint8_t *table = p->tables;
        for (uint32_t c = 0u; c < p->channels; c += 1u) {
            to[c] = table[from[c]];
            table += 256;
        }
        from += p->channels;
        to += p->channels;
    }
}
