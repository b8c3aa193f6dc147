/* SPDX-License-Identifier: Apache-2.0 */
/* Runs conformance cases. Reads records {u32 case, inputs}, writes {u32 state, outputs} for each; every case runs twice,
 * in an arena filled with different garbage. On the host the arena's red zones are poisoned, too. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#if defined(SIM_BEGIN)
#define BEGIN_COUNT() SIM_BEGIN()
#define END_COUNT() SIM_END()
#else
#define BEGIN_COUNT() ((void)0)
#define END_COUNT() ((void)0)
#endif

#if defined(MCUGEN_SIMULATED)
#include "semihost.h"

extern uint8_t harness_arena[];
extern uint8_t harness_inputs[];
extern uint8_t harness_outputs[];
static int file_in, file_out;
static uint32_t left;

static void open_files(void)
{
    file_in = sim_open_read("input.bin");
    file_out = sim_open_write("output.bin");
    left = sim_file_length(file_in);
}

static int read_bytes(void *to, uint32_t size)
{
    if (left < size) {
        return 0;
    }
    left -= size;
    sim_read(file_in, to, size);
    return 1;
}

static void write_bytes(const void *from, uint32_t size)
{
    sim_write(file_out, from, size);
}

static void close_files(void)
{
    sim_close(file_in);
    sim_close(file_out);
}

static uint8_t *arena_of(const harness_case *c)
{
    (void)c;
    return harness_arena;
}

static uint8_t *saved_inputs(uint32_t size)
{
    (void)size;
    return harness_inputs;
}

static uint8_t *saved_outputs(uint32_t size)
{
    (void)size;
    return harness_outputs;
}

static void release(uint8_t *memory)
{
    (void)memory;
}

#else
#include <stdio.h>

static void open_files(void)
{
}

static int read_bytes(void *to, uint32_t size)
{
    return fread(to, 1, size, stdin) == size;
}

static void write_bytes(const void *from, uint32_t size)
{
    (void)fwrite(from, 1, size, stdout);
}

static void close_files(void)
{
    (void)fflush(stdout);
}

static uint8_t *allocated(size_t size)
{
    uint8_t *const memory = aligned_alloc(16, (size + 15u) / 16u * 16u + 16u);
    if (memory == NULL) {
        exit(9);
    }
    return memory;
}

static uint8_t *arena_of(const harness_case *c)
{
    return allocated(c->arena_size);
}

static uint8_t *saved_inputs(uint32_t size)
{
    return allocated(size);
}

static uint8_t *saved_outputs(uint32_t size)
{
    return allocated(size);
}

static void release(uint8_t *memory)
{
    free(memory);
}
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(at, size) ASAN_POISON_MEMORY_REGION(at, size)
#define UNPOISON(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#else
#define POISON(at, size) ((void)(at), (void)(size))
#define UNPOISON(at, size) ((void)(at), (void)(size))
#endif

static uint8_t garbage(uint32_t at, uint32_t round)
{
    const uint32_t mixed = (at + 1u) * 2654435761u + round * 40503u * 65537u;
    return (uint8_t)(mixed >> 24);
}

static uint32_t size_of(const harness_part *parts, uint32_t count)
{
    uint32_t size = 0u;
    for (uint32_t k = 0u; k < count; k += 1u) {
        size += parts[k].size;
    }
    return size;
}

static void scatter(uint8_t *arena, const harness_part *parts, uint32_t count, const uint8_t *from)
{
    for (uint32_t k = 0u; k < count; k += 1u) {
        memcpy(arena + parts[k].offset, from, parts[k].size);
        from += parts[k].size;
    }
}

static void collect(uint8_t *to, const uint8_t *arena, const harness_part *parts, uint32_t count)
{
    for (uint32_t k = 0u; k < count; k += 1u) {
        memcpy(to, arena + parts[k].offset, parts[k].size);
        to += parts[k].size;
    }
}

static int equal(const uint8_t *held, const uint8_t *arena, const harness_part *parts, uint32_t count)
{
    for (uint32_t k = 0u; k < count; k += 1u) {
        if (memcmp(arena + parts[k].offset, held, parts[k].size) != 0) {
            return 0;
        }
        held += parts[k].size;
    }
    return 1;
}

static int zones_hold(const uint8_t *arena, const harness_part *zones, uint32_t count, uint32_t round)
{
    for (uint32_t k = 0u; k < count; k += 1u) {
        for (uint32_t i = zones[k].offset; i < zones[k].offset + zones[k].size; i += 1u) {
            if (arena[i] != garbage(i, round)) {
                return 0;
            }
        }
    }
    return 1;
}

static void run_once(const harness_case *c, uint8_t *arena, const uint8_t *inputs, uint32_t round)
{
    const harness_part *const zones = c->parts + c->inputs + c->outputs;
    for (uint32_t i = 0u; i < c->arena_size; i += 1u) {
        arena[i] = garbage(i, round);
    }
    scatter(arena, c->parts, c->inputs, inputs);
    for (uint32_t k = 0u; k < c->zones; k += 1u) {
        POISON(arena + zones[k].offset, zones[k].size);
    }
    BEGIN_COUNT();
    c->run(arena);
    END_COUNT();
    UNPOISON(arena, c->arena_size);
}

static void run_case(const harness_case *c)
{
    const harness_part *const outputs = c->parts + c->inputs;
    const harness_part *const zones = outputs + c->outputs;
    const uint32_t out_size = size_of(outputs, c->outputs);
    uint8_t *const arena = arena_of(c);
    uint8_t *const inputs = saved_inputs(size_of(c->parts, c->inputs));
    uint8_t *const results = saved_outputs(out_size);
    uint32_t state = HARNESS_FINE;
    (void)read_bytes(inputs, size_of(c->parts, c->inputs));
    for (uint32_t round = 0u; round < 2u; round += 1u) {
        run_once(c, arena, inputs, round);
        if (round == 1u && !equal(results, arena, outputs, c->outputs)) {
            state = HARNESS_UNSTABLE;
        }
        if (!zones_hold(arena, zones, c->zones, round)) {
            state = HARNESS_STRAYED;
        }
        if (c->keeps_input && !equal(inputs, arena, c->parts, c->inputs)) {
            state = HARNESS_INPUT_LOST;
        }
        collect(results, arena, outputs, c->outputs);
    }
    write_bytes(&state, sizeof state);
    write_bytes(results, out_size);
    release(results);
    release(inputs);
    release(arena);
}

static const harness_case *find(uint32_t index)
{
    for (uint32_t g = 0u; g < harness_group_count; g += 1u) {
        if (index < harness_groups[g].count) {
            return &harness_groups[g].cases[index];
        }
        index -= harness_groups[g].count;
    }
    return NULL;
}

int main(void)
{
    open_files();
    uint32_t index = 0u;
    while (read_bytes(&index, sizeof index)) {
        const harness_case *const c = find(index);
        if (c == NULL) {
            return 8;
        }
        run_case(c);
#if !defined(MCUGEN_SIMULATED)
        (void)fflush(stdout);
#endif
    }
    close_files();
    return 0;
}
