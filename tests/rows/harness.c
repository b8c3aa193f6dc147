/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one model on input sets from standard input. Before every event, each byte of the arena that the plan does not
 * give to any buffer at that time is filled with garbage and poisoned; after it, the garbage must still be there.
 *
 * Input, in 32 bit words: model, sets, plan size, keep, frames, inputs {offset, size}, outputs {offset, size}, results {step and
 * number, row size}, events {step, live parts {offset, size}}, each list after its length; then the inputs of every set.
 * keep: inputs stay as they were. frames: how many are pushed to a model that streams, which has its first event again
 * with each of them, and is reported on with each that completes a window. Output for each report: a word that is 0 if all was well, a checksum of each result, and
 * the outputs. */
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT 0xffffffffu

enum { FINE, STRAYED, OUT_OF_ORDER, INPUT_LOST, NOT_DONE };

typedef struct {
    uint32_t offset, size;
} part;

typedef struct {
    uint32_t count;
    part *parts;
} parts;

typedef struct {
    uint32_t step;
    parts live;
} event;

/* Memory allocated for the request is freed by the end of the process. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static uint8_t *arena;
static uint32_t plan_size, event_count, done, state;
static event *events;
static parts results;
static uint32_t *sums;

static void read_or_stop(void *to, size_t size)
{
    if (fread(to, 1, size, stdin) != size) {
        exit(9);
    }
}

static uint32_t word(void)
{
    uint32_t value = 0u;
    read_or_stop(&value, sizeof value);
    return value;
}

static void *allocated(size_t size)
{
    void *const memory = malloc(size + 1u);
    if (memory == NULL) {
        exit(9);
    }
    return memory;
}

static parts read_parts(void)
{
    parts found = {word(), NULL};
    found.parts = allocated(found.count * sizeof(part));
    read_or_stop(found.parts, found.count * sizeof(part));
    return found;
}

static uint32_t total(parts all)
{
    uint32_t size = 0u;
    for (uint32_t k = 0u; k < all.count; k += 1u) {
        size += all.parts[k].size;
    }
    return size;
}

static uint8_t garbage(uint32_t at, uint32_t time)
{
    return (uint8_t)(((at + 1u) * 2654435761u + (time + 1u) * 2246822519u) >> 24);
}

/* Calls f for each run of bytes that is not live. */
static void for_gaps(parts live, uint32_t time, void (*f)(uint32_t from, uint32_t to, uint32_t time))
{
    uint32_t at = 0u;
    for (uint32_t k = 0u; k < live.count; k += 1u) {
        if (at < live.parts[k].offset) {
            f(at, live.parts[k].offset, time);
        }
        at = live.parts[k].offset + live.parts[k].size;
    }
    if (at < plan_size) {
        f(at, plan_size, time);
    }
}

static void fill(uint32_t from, uint32_t to, uint32_t time)
{
    for (uint32_t i = from; i < to; i += 1u) {
        arena[i] = garbage(i, time);
    }
    ASAN_POISON_MEMORY_REGION(arena + from, to - from);
}

static void inspect(uint32_t from, uint32_t to, uint32_t time)
{
    for (uint32_t i = from; i < to; i += 1u) {
        if (arena[i] != garbage(i, time)) {
            state = STRAYED;
        }
    }
}

static void end_event(void)
{
    ASAN_UNPOISON_MEMORY_REGION(arena, plan_size);
    if (done > 0u) {
        for_gaps(events[done - 1u].live, done - 1u, inspect);
    }
}

void rows_event(uint32_t step)
{
    end_event();
    if (done >= event_count || events[done].step != step) {
        state = OUT_OF_ORDER;
        return;
    }
    for_gaps(events[done].live, done, fill);
    done += 1u;
}

void rows_done(uint32_t step, uint32_t output, uint32_t first, uint32_t rows, const void *data)
{
    const uint8_t *const bytes = data;
    for (uint32_t k = 0u; k < results.count; k += 1u) {
        const uint32_t size = results.parts[k].size;
        if (results.parts[k].offset == step * 256u + output) {
            for (uint32_t i = 0u; i < rows * size; i += 1u) {
                sums[k] += (bytes[i] + 1u) * ((first * size + i + 1u) * 2654435761u | 1u);
            }
        }
    }
}

static void scatter(parts to, const uint8_t *from)
{
    for (uint32_t k = 0u; k < to.count; k += 1u) {
        memcpy(arena + to.parts[k].offset, from, to.parts[k].size);
        from += to.parts[k].size;
    }
}

static bool equal(parts held, const uint8_t *to)
{
    bool same = true;
    for (uint32_t k = 0u; k < held.count; k += 1u) {
        same = same && memcmp(arena + held.parts[k].offset, to, held.parts[k].size) == 0;
        to += held.parts[k].size;
    }
    return same;
}

static void report(parts outputs)
{
    end_event();
    if (done != event_count && state == FINE) {
        state = OUT_OF_ORDER;
    }
    fwrite(&state, sizeof state, 1, stdout);
    fwrite(sums, sizeof(uint32_t), results.count, stdout);
    for (uint32_t k = 0u; k < outputs.count; k += 1u) {
        fwrite(arena + outputs.parts[k].offset, 1, outputs.parts[k].size, stdout);
    }
}

static void stream(const rows_model *m, uint32_t frames, parts outputs, const uint8_t *data)
{
    m->reset(arena);
    for (uint32_t t = 0u; t < frames; t += 1u) {
        const bool complete = t + 1u >= m->rows;
        done = 0u;
        memset(sums, 0, results.count * sizeof(uint32_t));
        rows_event(INPUT);
        if (m->push(arena, data + t * m->row_size) != complete) {
            state = NOT_DONE;
        }
        if (complete) {
            report(outputs);
        } else {
            end_event();
        }
    }
}

static void run(const rows_model *m, parts inputs, const uint8_t *data)
{
    if (m->push == NULL) {
        scatter(inputs, data);
        m->run(arena);
        return;
    }
    m->reset(arena);
    for (uint32_t y = 0u; y < m->rows; y += 1u) {
        rows_event(INPUT);
        if (m->push(arena, data + y * m->row_size) != (y + 1u == m->rows)) {
            state = NOT_DONE;
        }
    }
}

int main(void)
{
    const uint32_t index = word();
    const uint32_t sets = word();
    if (index >= rows_model_count) {
        return 8;
    }
    const rows_model *const m = rows_models[index];
    plan_size = word();
    const uint32_t keep = word();
    const uint32_t frames = word();
    const parts inputs = read_parts();
    const parts outputs = read_parts();
    results = read_parts();
    sums = allocated(results.count * sizeof(uint32_t));
    event_count = word();
    events = allocated(event_count * sizeof(event));
    for (uint32_t k = 0u; k < event_count; k += 1u) {
        events[k].step = word();
        events[k].live = read_parts();
    }
    const uint32_t data_size = m->push == NULL ? total(inputs) : (frames > 0u ? frames : m->rows) * m->row_size;
    uint8_t *const data = allocated(data_size);
    arena = allocated(m->model_size);
    for (uint32_t set = 0u; set < sets; set += 1u) {
        read_or_stop(data, data_size);
        state = FINE;
        done = 0u;
        memset(arena, (int)(0x5au + set), m->model_size);
        memset(sums, 0, results.count * sizeof(uint32_t));
        if (frames > 0u) {
            stream(m, frames, outputs, data);
            continue;
        }
        run(m, inputs, data);
        end_event();
        if (keep != 0u && state == FINE && !equal(inputs, data)) {
            state = INPUT_LOST;
        }
        report(outputs);
    }
    fflush(stdout);
    return 0;
}
