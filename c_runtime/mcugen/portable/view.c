/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/strided.h"
#include "mcugen/view.h"

void mg_view(const mg_view_params *p, const void *in, void *out)
{
    const mg_strided s = {p->dims, p->in_stride, p->out_stride, p->size};
    mg_copy_strided(&s, (const uint8_t *)in + p->offset, out);
}
