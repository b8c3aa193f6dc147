/* SPDX-License-Identifier: Apache-2.0 */
/* Part of count_plugin.c: reads of memories that are slower than the core, and the cycles that the core waits for them.
 *
 * While `running`, it counts for the index `current` of `counts_len`. `must` ends the emulator if an allocation fails.
 */
#ifndef MEMORY_READS_H
#define MEMORY_READS_H

enum { WAYS = 8, MOST_MEMORIES = 16 };

/* Cached lines by set, the most recently used first. */
typedef struct {
    uint64_t *lines;
    uint64_t sets, ways;
    uint64_t *misses; /* by index, like the counts of blocks */
} cache_t;

/* Cycles are counted for 0, 1, ..., lanes - 1 wait states at once. Which lines are read does not depend on them. */
typedef struct {
    uint64_t first, end, line_bytes;
    uint64_t waits;      /* cycles before a line arrives */
    uint64_t comes;      /* cycles to transfer it */
    uint64_t kept_bytes; /* size of the data cache */
    int reads_ahead;     /* reads the line after the current line of instructions */
    int is_stored_to;    /* RAM: a line may be written before it is read */
    cache_t code, data;
    uint64_t *free_at;  /* by lane: when it can begin another read */
    uint64_t *ahead_at; /* by lane: when the line read ahead is there */
    uint64_t ahead;     /* the line read ahead */
    uint8_t *seen;      /* by line, a bit: whether data of it was read since the inference began */
    uint64_t *fresh;    /* by index: lines of data read for the first time in the inference */
} memory_t;

/* A line that holds instructions of a block, and how many of them end in it. */
typedef struct chunk {
    uint64_t line;
    uint64_t instructions;
} chunk_t;

static memory_t memories[MOST_MEMORIES]; /* the code's memory first; lanes vary its wait states */
static size_t memories_len;              /* 0 if reads are not followed */
static uint64_t passed;                  /* cycles of instructions since the start */
static uint64_t passing;                 /* of them, cycles in the line entered last that have not passed yet */
static uint64_t lanes;
static uint64_t *late;    /* by lane: cycles waited since the start */
static uint64_t *held_up; /* cycles waited, by index and lane */

static void make_cache(cache_t *cache, uint64_t bytes, uint64_t line_bytes)
{
    const uint64_t lines = bytes / line_bytes > 0 ? bytes / line_bytes : 1;
    cache->ways = lines < WAYS ? lines : WAYS;
    cache->sets = lines / cache->ways;
    cache->lines = must(calloc(cache->sets * cache->ways, sizeof *cache->lines));
    cache->misses = must(calloc(counts_len, sizeof *cache->misses));
}

static uint64_t seen_bytes(const memory_t *m)
{
    return (m->end - m->first) / m->line_bytes / 8 + 2;
}

/* Lanes go up to the wait states of the code's memory, at least to 15; few boards have more. */
static void make_memories(const uint64_t caches[][2])
{
    lanes = (memories[0].waits > 15 ? memories[0].waits : 15) + 1;
    late = must(calloc(lanes, sizeof *late));
    held_up = must(calloc(counts_len * lanes, sizeof *held_up));
    for (size_t i = 0; i < memories_len; i += 1) {
        memory_t *const m = &memories[i];
        make_cache(&m->code, caches[i][0], m->line_bytes);
        make_cache(&m->data, caches[i][1], m->line_bytes);
        m->free_at = must(calloc(lanes, sizeof *m->free_at));
        m->ahead_at = must(calloc(lanes, sizeof *m->ahead_at));
        m->seen = must(calloc(seen_bytes(m), 1));
        m->fresh = must(calloc(counts_len, sizeof *m->fresh));
    }
}

static void forget_counts(void)
{
    for (size_t i = 0; i < memories_len; i += 1) {
        memset(memories[i].code.misses, 0, counts_len * sizeof *memories[i].code.misses);
        memset(memories[i].data.misses, 0, counts_len * sizeof *memories[i].data.misses);
        memset(memories[i].fresh, 0, counts_len * sizeof *memories[i].fresh);
        memset(memories[i].seen, 0, seen_bytes(&memories[i]));
    }
    memset(held_up, 0, counts_len * lanes * sizeof *held_up);
}

static uint64_t *set_of(const cache_t *cache, uint64_t line)
{
    return cache->lines + line % cache->sets * cache->ways;
}

static int holds(const cache_t *cache, uint64_t line)
{
    const uint64_t *const set = set_of(cache, line);
    uint64_t way = 0;
    while (way < cache->ways && set[way] != line) {
        way += 1;
    }
    return way < cache->ways;
}

/* Makes a line the most recently used. Returns whether it was cached. */
static int use(cache_t *cache, uint64_t line)
{
    uint64_t *const set = set_of(cache, line);
    const int was_there = holds(cache, line);
    uint64_t way = 0;
    while (way < cache->ways - 1 && set[way] != line) {
        way += 1;
    }
    memmove(set + 1, set, way * sizeof *set);
    set[0] = line;
    cache->misses[current] += (uint64_t)(running && !was_there);
    return was_there;
}

static memory_t *memory_of(uint64_t address)
{
    for (size_t i = 0; i < memories_len; i += 1) {
        if (address >= memories[i].first && address < memories[i].end) {
            return &memories[i];
        }
    }
    return NULL;
}

static uint64_t waits_in(const memory_t *m, uint64_t lane)
{
    return m == memories ? lane : m->waits;
}

/* Begins a read of a line as soon as the memory is free. */
static void read_line(memory_t *m)
{
    for (uint64_t k = 0; k < lanes; k += 1) {
        const uint64_t now = passed + late[k];
        m->free_at[k] = (m->free_at[k] > now ? m->free_at[k] : now) + waits_in(m, k) + m->comes;
    }
}

/* Waits until the cycles in which a line that was read can be used. */
static void wait_for(const uint64_t *cycles)
{
    for (uint64_t k = 0; k < lanes; k += 1) {
        const uint64_t now = passed + late[k];
        const uint64_t more = cycles[k] > now + 1 ? cycles[k] - 1 - now : 0; /* one cycle is the instruction's own */
        held_up[current * lanes + k] += running ? more : 0;
        late[k] += more;
    }
}

/* Reads instructions from a line of the code's memory. */
static void enter(const chunk_t *chunk)
{
    memory_t *const m = memories;
    const uint64_t first = chunk->instructions > 0;
    const uint64_t address = chunk->line * m->line_bytes;
    passed += passing;
    if (address >= m->first && address < m->end) {
        if (!use(&m->code, chunk->line)) {
            if (m->ahead != chunk->line) {
                read_line(m);
            }
            wait_for(m->ahead == chunk->line ? m->ahead_at : m->free_at);
        }
        if (m->reads_ahead && m->ahead != chunk->line + 1 && !holds(&m->code, chunk->line + 1)) {
            m->ahead = chunk->line + 1;
            read_line(m);
            memcpy(m->ahead_at, m->free_at, lanes * sizeof *m->ahead_at);
        }
    }
    passed += first; /* before any data that the instructions read */
    passing = chunk->instructions - first;
}

/* An instruction reads or writes data. A written line is read first. */
static void read_data(uint64_t address)
{
    memory_t *const m = memory_of(address);
    if (m == NULL || use(&m->data, address / m->line_bytes)) {
        return;
    }
    if (running) {
        const uint64_t bit = (address - m->first) / m->line_bytes;
        m->fresh[current] += (uint64_t)((m->seen[bit / 8] >> bit % 8 & 1) == 0);
        m->seen[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
    read_line(m);
    wait_for(m->free_at);
    passed += 1; /* of the access, beside the instruction's, which may have several */
}

/* Least cycles to fetch the constants that an index reads for the first time, if they exceed the cache. */
static uint64_t streamed(size_t index)
{
    uint64_t cycles = 0;
    for (size_t i = 0; i < memories_len; i += 1) {
        const memory_t *const m = &memories[i];
        uint64_t lines = 0;
        for (size_t k = 0; k < counts_len; k += 1) {
            lines += m->fresh[k];
        }
        if (!m->is_stored_to && lines * m->line_bytes > m->kept_bytes) {
            cycles += m->fresh[index] * (m->waits + m->comes);
        }
    }
    return cycles;
}

static void write_reads(FILE *output, size_t index)
{
    const uint64_t *const held = held_up + index * lanes;
    uint64_t code = 0;
    uint64_t data = 0;
    for (size_t i = 0; i < memories_len; i += 1) {
        code += memories[i].code.misses[index];
        data += memories[i].data.misses[index];
    }
    fprintf(output, "fetches %ld %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, (long)index - 1, code, data,
            streamed(index), held[memories[0].waits]);
    for (uint64_t lane = 0; lane < lanes; lane += 1) {
        fprintf(output, " %" PRIu64, held[lane]);
    }
    fputs("\n", output);
}

#endif
