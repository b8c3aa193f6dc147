/* SPDX-License-Identifier: Apache-2.0
 *
 * Sliding window of the newest rows: a new row is appended, and the oldest bytes are dropped.
 * Equals NewestRows.reference_q.
 */
#ifndef MCUGEN_NEWEST_ROWS_H
#define MCUGEN_NEWEST_ROWS_H

#include "mcugen/runtime.h"

/* kept: bytes of the window that remain in it. row: bytes of the new row. */
typedef struct {
    uint32_t kept, row;
} mg_newest_rows_params;

/* window, y: kept + row bytes, may be the same memory. */
void mg_newest_rows(const mg_newest_rows_params *p, const void *window, const void *x, void *y);

#endif /* MCUGEN_NEWEST_ROWS_H */
