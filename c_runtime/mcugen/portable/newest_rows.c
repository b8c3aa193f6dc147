/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/newest_rows.h"

void mg_newest_rows(const mg_newest_rows_params *p, const void *window, const void *x, void *y)
{
    uint8_t *const to = (uint8_t *)y;
    (void)memmove(to, (const uint8_t *)window + p->row, p->kept);
    (void)memcpy(to + p->kept, x, p->row);
}
