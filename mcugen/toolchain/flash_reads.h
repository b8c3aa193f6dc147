/* SPDX-License-Identifier: Apache-2.0 */
/* Part of count_plugin.c: what a core reads from a flash with wait states, and how long that holds it up.
 *
 * It counts for the index `current` while `running`, of `counts_len`; `must` ends the emulator where memory is out.
 */
#ifndef FLASH_READS_H
#define FLASH_READS_H

enum { WAYS = 8 };

/* Lines by set, the one used last in front. */
typedef struct {
    uint64_t *lines;
    uint64_t sets, ways;
    uint64_t *misses; /* by index, as counts of runs */
} cache_t;

/* A line that instructions of a run come from, and how many end there. */
typedef struct chunk {
    uint64_t line;
    uint64_t instructions;
} chunk_t;

static uint64_t flash_first, flash_end, line_bytes; /* line_bytes: 0 where fetches are not counted */
static cache_t code_cache, data_cache;
static uint64_t waits;       /* wait states: cycles of a read of the flash beyond the first */
static int reads_ahead;
static uint64_t passed;      /* cycles of instructions since the start */
static uint64_t passing;     /* cycles of those from the line entered last that are still to pass */
static uint64_t ahead;       /* the line read ahead */

/* What depends on the wait states is reckoned for 0, 1 and so on up to lanes - 1 of them at once; which lines are read
 * does not depend on them. */
static uint64_t lanes;
static uint64_t *late;       /* cycles waited since the start */
static uint64_t *free_at;    /* when the flash can begin another read */
static uint64_t *ahead_at;   /* when the line read ahead is there */
static uint64_t *held_up;    /* cycles waited, by index and lane */

/* Room for `bytes` of lines; called once the number of indices is known. */
static void make_cache(cache_t *cache, uint64_t bytes)
{
    const uint64_t lines = bytes / line_bytes > 0 ? bytes / line_bytes : 1;
    cache->ways = lines < WAYS ? lines : WAYS;
    cache->sets = lines / cache->ways;
    cache->lines = must(calloc(cache->sets * cache->ways, sizeof *cache->lines));
    cache->misses = must(calloc(counts_len, sizeof *cache->misses));
}

/* Room for what depends on wait states, up to the board's, or to 15, more than which few boards have. */
static void make_lanes(void)
{
    lanes = (waits > 15 ? waits : 15) + 1;
    late = must(calloc(lanes, sizeof *late));
    free_at = must(calloc(lanes, sizeof *free_at));
    ahead_at = must(calloc(lanes, sizeof *ahead_at));
    held_up = must(calloc(counts_len * lanes, sizeof *held_up));
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

/* Makes a line the one used last; whether it was there. */
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

static int in_flash(uint64_t address)
{
    return line_bytes != 0 && address >= flash_first && address < flash_end;
}

/* Begins a read of the flash as soon as it is free. */
static void read_flash(void)
{
    for (uint64_t k = 0; k < lanes; k += 1) {
        const uint64_t now = passed + late[k];
        free_at[k] = (free_at[k] > now ? free_at[k] : now) + k + 1;
    }
}

/* Waits for the cycles in which what was read can be used. */
static void wait_for(const uint64_t *cycles)
{
    for (uint64_t k = 0; k < lanes; k += 1) {
        const uint64_t now = passed + late[k];
        const uint64_t more = cycles[k] > now + 1 ? cycles[k] - 1 - now : 0; /* that of the access is the instruction's */
        held_up[current * lanes + k] += running ? more : 0;
        late[k] += more;
    }
}

/* Instructions come from a line. */
static void enter(const chunk_t *chunk)
{
    const uint64_t first = chunk->instructions > 0;
    passed += passing;
    if (in_flash(chunk->line * line_bytes)) {
        if (!use(&code_cache, chunk->line)) {
            if (ahead != chunk->line) {
                read_flash();
            }
            wait_for(ahead == chunk->line ? ahead_at : free_at);
        }
        if (reads_ahead && ahead != chunk->line + 1 && !holds(&code_cache, chunk->line + 1)) {
            ahead = chunk->line + 1;
            read_flash();
            memcpy(ahead_at, free_at, lanes * sizeof *ahead_at);
        }
    }
    passed += first; /* before any data that the instructions read */
    passing = chunk->instructions - first;
}

#endif
