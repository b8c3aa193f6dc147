/* SPDX-License-Identifier: Apache-2.0 */
/* Stands before every model that the harness runs: each event of a model reports to it. */
#ifndef MCUGEN_TEST_ROWS_HARNESS_H
#define MCUGEN_TEST_ROWS_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#define MCUGEN_STEP(step) rows_event(step)
#define MCUGEN_ROWS(step, output, first, rows, pointer) rows_done(step, output, first, rows, pointer)

/* run, or push with reset: how a model is called. */
typedef struct {
    void (*run)(void *model);
    bool (*push)(void *model, const void *row);
    void (*reset)(void *model);
    uint32_t model_size, rows, row_size;
} rows_model;

extern const rows_model *const rows_models[];
extern const uint32_t rows_model_count;

void rows_event(uint32_t step);
void rows_done(uint32_t step, uint32_t output, uint32_t first, uint32_t rows, const void *data);

#endif
