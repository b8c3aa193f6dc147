/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCUGEN_PLANAR_EACH_H
#define MCUGEN_PLANAR_EACH_H

#include "mcugen/runtime.h"

/* Arguments of planar_each for an output row. The functions advance the pointers.
 * data          first tap of the current output
 * row           bytes from a kernel row to the next in memory
 * back          bytes from the last kernel row of an output to the first kernel row of the next output
 * channels      bytes from an output to the next
 * weights, finish, out  pointers for the current channel
 * next          bytes from the data behind a channel's last output to the next channel's data
 * outputs_left  256 * (outputs of a row - 1)
 * rows          byte offset of each kernel row's weights, in the order of the rows in memory
 * last          end of finish */
typedef struct {
    const mg_s16 *data;
    uint32_t row;
    int32_t back;
    uint32_t channels;
    const int32_t *weights, *finish;
    int8_t *out;
    int32_t next;
    uint32_t outputs_left, rows[3];
    const int32_t *last;
} mg_planar_each_job;

#endif /* MCUGEN_PLANAR_EACH_H */
