/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/strided.h"
#include "mcugen/view.h"

void mg_view__rows(const mg_view_params *p, const uint8_t *const *rows, uint32_t y, uint8_t *out)
{
    const mg_strided s = {p->dims, p->in_stride, p->out_stride, p->size};
    (void)y;
    mg_copy_strided(&s, rows[0] + p->offset, out);
}
