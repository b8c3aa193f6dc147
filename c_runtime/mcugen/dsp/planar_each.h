/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCUGEN_PLANAR_EACH_H
#define MCUGEN_PLANAR_EACH_H

#include "mcugen/runtime.h"

/* The channels of an output row that planar_each computes one output after the other, by functions that move what points
 * into them. In bytes: row, from a kernel row to the next in memory; back, from the last one to the first one of the next
 * output; next, from that behind the last output to the next channel; rows, to the weights of each kernel row in memory.
 * left: 256 for each output of a row but the first. channels: bytes from an output to the next. */
typedef struct {
    const mg_s16 *data;
    uint32_t row;
    int32_t back;
    uint32_t channels;
    const int32_t *weights, *finish;
    int8_t *out;
    int32_t next;
    uint32_t left, rows[3];
    const int32_t *last;
} mg_planar_each_job;

#endif /* MCUGEN_PLANAR_EACH_H */
