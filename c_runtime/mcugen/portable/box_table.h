/* SPDX-License-Identifier: Apache-2.0
 *
 * The boxes that non_max_suppression chose, as rows of left, top, right, bottom, score and class: the best score first,
 * the first row of equal scores. Rows of zeros follow.
 */
#ifndef MCUGEN_BOX_TABLE_H
#define MCUGEN_BOX_TABLE_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t rows, boxes, classes, most;
    uint32_t centred; /* 1: a box is its centre x, y and its width and height; 0: two corners */
    uint32_t x;       /* the place of x in a corner, 0 or 1 */
} mg_box_table_params;

/* rows [rows][3]: image, class and box, -1 if unused.  boxes [boxes][4].  scores [classes][boxes].  out [most][6] */
void mg_box_table(const mg_box_table_params *p, const mg_s64 *rows, const mg_f32 *boxes, const mg_f32 *scores, mg_f32 *out);

#endif /* MCUGEN_BOX_TABLE_H */
