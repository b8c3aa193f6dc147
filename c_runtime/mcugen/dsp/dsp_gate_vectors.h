/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of int16 and quads of rows for the templates of recurrent layers, on cores with SMLAD.
 */
#define MG_READ mg_s16
#define MG_ROWS mg_dsp_gate_rows

static inline uint32_t room(uint32_t n)
{
    return mg_dsp_gate_room(n);
}

static inline const mg_s16 *widened(const int8_t *x, mg_s16 *wide, uint32_t n)
{
    return mg_dsp_gate_widened(x, wide, n);
}

static inline mg_dsp_gate_rows rows_after(mg_dsp_gate_rows rows, uint32_t count)
{
    return mg_dsp_gate_rows_after(rows, count);
}

static inline void sums(const mg_dsp_gate_rows *rows, const mg_s16 *x, uint32_t count, mg_s16 *out)
{
    mg_dsp_gate_sums(rows, x, count, out);
}
