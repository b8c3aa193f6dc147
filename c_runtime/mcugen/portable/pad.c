/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/pad.h"
#include "mcugen/strided.h"

void mg_pad(const mg_pad_params *p, const void *in, void *out)
{
    const mg_strided s = {p->dims, p->in_stride, p->out_stride, p->size};
    uint8_t *const bytes = out;
    for (uint32_t i = 0u; i < p->elements; i += 1u) {
        (void)memcpy(bytes + i * p->size, p->value, p->size);
    }
    mg_copy_strided(&s, in, bytes + p->offset);
}
