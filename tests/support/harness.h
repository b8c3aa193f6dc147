/* SPDX-License-Identifier: Apache-2.0 */
/* The table of conformance cases: what the harness must know to run one. */
#ifndef MCUGEN_TEST_HARNESS_H
#define MCUGEN_TEST_HARNESS_H

#include <stdint.h>

typedef struct {
    uint32_t offset, size;
} harness_part;

/* inputs, outputs and zones: in `parts`, one after the other. */
typedef struct {
    void (*run)(void *model);
    const harness_part *parts;
    uint32_t arena_size;
    uint16_t inputs, outputs, zones;
    uint16_t keeps_input;
} harness_case;

typedef struct {
    const harness_case *cases;
    uint32_t count;
} harness_group;

extern const harness_group harness_groups[];
extern const uint32_t harness_group_count;

#define HARNESS_FINE 0u
#define HARNESS_UNSTABLE 1u  /* the outputs depend on what was in the arena */
#define HARNESS_STRAYED 2u   /* bytes of no buffer were written */
#define HARNESS_INPUT_LOST 3u

#endif
