/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * f32 -> u8, mg_f32 -> uint8_t
 */
#include "mcugen/banded_f32.h"

void mg_banded_f32__within(const mg_banded_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out)
{
    (void)y;
    mg_banded_f32(p, rows[0], out);
}
