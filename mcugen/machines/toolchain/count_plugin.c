/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU TCG plugin: counts executed guest instructions exactly, per mark and per block of instructions.
 *
 * A block ("run" in the code) is a sequence of instructions of which only the last may jump.
 *
 * Arguments:
 *   marks=FILE   read: lines "address index" (decimal)
 *   counts=FILE  written: a line "inference", then per block that was entered: "index address instructions entries"
 *
 * When the instruction at a mark's address is about to execute, counting switches to the mark's index, beginning with
 * this instruction. Index -2 begins an inference, -3 ends it, -1 belongs to no step. Marks that share an address apply
 * in order.
 *
 * memory=FIRST:END:LINE:CODE:DATA:WAITS:COMES:AHEAD:STORED describes a slow memory; the code's memory must be first.
 *   FIRST:END    addresses; a memory that ends where it begins is ignored
 *   LINE         bytes per read
 *   CODE, DATA   bytes of cache for instructions and for data, in sets of up to 8 lines, the least recently used line
 *                replaced; without a cache, only the last line is kept
 *   WAITS, COMES cycles before a line arrives, and cycles for its transfer; reads do not overlap and are not cancelled
 *   AHEAD        1: the line after the current line of instructions is read as soon as the memory is free
 *   STORED       1: RAM, whose lines the firmware may write before it reads them
 * With it, counts has further lines "fetches index code data streamed cycles cycles...":
 *   code, data   lines read for instructions and for data
 *   streamed     cycles to read data lines for the first time in the inference, from memories with STORED 0 of which
 *                more than DATA bytes are read
 *   cycles       most cycles of waiting, then the same with 0, 1, 2, ... as WAITS of the first memory
 * Every instruction is assumed to take one cycle, the least of a core that issues one at a time.
 *
 * A block costs one addition in the translated code. QEMU ends its translation blocks after every jump, so a block that
 * is entered is left only at its end. If it faults, it has no count; the firmware then has no result. A mark begins a
 * block; the counts of all blocks since the last mark are then added to the index.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

enum { OUTSIDE = -1, BEGIN = -2, END = -3 };

typedef struct {
    uint64_t address;
    long index;
    size_t order; /* in the file: marks at one address act in that order */
} mark_t;

typedef struct {
    uint64_t address;
    uint64_t length; /* instructions */
    uint64_t entries; /* since the start */
    uint64_t settled; /* of them, those already given to an index */
    uint64_t *counts; /* [0] outside, [1 + i] step i */
    mark_t *mark;     /* that the first instruction bears, or NULL */
    struct chunk *first; /* its first line, NULL where fetches are not counted */
} run_t;

static mark_t *marks;
static size_t marks_len;
static size_t counts_len;
static size_t current;
static int running;
static run_t **runs;
static size_t runs_len;
static size_t *table; /* hash of address and length -> 1 + index of the run, 0 where free; a power of two, half full */
static size_t table_len;
static FILE *output;
static int by_address(const void *a, const void *b)
{
    const mark_t *x = a;
    const mark_t *y = b;
    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

/* The first mark at the address, or NULL. */
static mark_t *find(uint64_t address)
{
    size_t low = 0;
    size_t high = marks_len;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (marks[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < marks_len && marks[low].address == address ? &marks[low] : NULL;
}

static void *must(void *memory)
{
    if (memory == NULL) {
        fputs("count_plugin: no memory\n", stderr);
        exit(1);
    }
    return memory;
}

#include "memory_reads.h"

static size_t *slot(uint64_t address, uint64_t length)
{
    size_t at = (size_t)((address * 64u + length) * 0x9E3779B97F4A7C15u >> 20);
    for (at &= table_len - 1; table[at] != 0; at = (at + 1) & (table_len - 1)) {
        const run_t *const r = runs[table[at] - 1];
        if (r->address == address && r->length == length) {
            break;
        }
    }
    return &table[at];
}

static void grow(void)
{
    free(table);
    table_len = table_len == 0 ? 4096 : 2 * table_len;
    table = must(calloc(table_len, sizeof *table));
    runs = must(realloc(runs, table_len / 2 * sizeof *runs));
    for (size_t i = 0; i < runs_len; i += 1) {
        *slot(runs[i]->address, runs[i]->length) = i + 1;
    }
}

/* The block's record. It stays the same if QEMU translates the block again. */
static run_t *record(uint64_t address, uint64_t length, mark_t *mark)
{
    size_t *at;
    if (2 * runs_len >= table_len) {
        grow();
    }
    at = slot(address, length);
    if (*at == 0) {
        run_t *const made = must(calloc(1, sizeof *made));
        made->address = address;
        made->length = length;
        made->mark = mark;
        made->counts = must(calloc(counts_len, sizeof *made->counts));
        runs[runs_len] = made;
        runs_len += 1;
        *at = runs_len;
    }
    return runs[*at - 1];
}

static void settle(void)
{
    for (size_t i = 0; i < runs_len; i += 1) {
        run_t *const r = runs[i];
        if (running) {
            r->counts[current] += r->entries - r->settled;
        }
        r->settled = r->entries;
    }
}

static void at_line(unsigned int cpu, void *data)
{
    (void)cpu;
    enter(data);
}

static void at_run(unsigned int cpu, void *data)
{
    run_t *const run = data;
    (void)cpu;
    run->entries += 1;
    enter(run->first);
}

static void at_load(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
    (void)cpu;
    (void)info;
    (void)data;
    read_data(address);
}

static void write_counts(void)
{
    fputs("inference\n", output);
    for (size_t i = 0; i < runs_len; i += 1) {
        for (size_t k = 0; k < counts_len; k += 1) {
            if (runs[i]->counts[k] != 0) {
                fprintf(output, "%ld %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (long)k - 1, runs[i]->address,
                        runs[i]->length, runs[i]->counts[k]);
            }
        }
    }
    for (size_t k = 0; memories_len != 0 && k < counts_len; k += 1) {
        write_reads(output, k);
    }
}

static void act(long index)
{
    if (index == BEGIN) {
        for (size_t i = 0; i < runs_len; i += 1) {
            memset(runs[i]->counts, 0, counts_len * sizeof *runs[i]->counts);
        }
        if (memories_len != 0) {
            forget_counts();
        }
        current = 0;
        running = 1;
    } else if (index == END) {
        if (running) {
            write_counts();
        }
        running = 0;
    } else {
        current = (size_t)(index + 1);
    }
}

static void at_mark(unsigned int cpu, void *data)
{
    run_t *const run = data;
    (void)cpu;
    settle();
    for (const mark_t *m = run->mark; m < marks + marks_len && m->address == run->address; m += 1) {
        act(m->index);
    }
    run->entries += 1; /* it has no inline count: that would be before or after this call, which is not specified */
    if (memories_len != 0) {
        enter(run->first);
    }
}

/* Watches the loads of instructions [first, end) and their lines; the first line, which its run enters. */
static chunk_t *watch(struct qemu_plugin_tb *tb, size_t first, size_t end)
{
    const uint64_t line_bytes = memories[0].line_bytes;
    chunk_t *start = NULL;
    chunk_t *chunk = NULL;
    for (size_t i = first; i < end; i += 1) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(tb, i);
        const uint64_t address = qemu_plugin_insn_vaddr(insn);
        const uint64_t last = (address + qemu_plugin_insn_size(insn) - 1) / line_bytes;
        for (uint64_t line = chunk == NULL ? address / line_bytes : chunk->line + 1; line <= last; line += 1) {
            chunk = must(calloc(1, sizeof *chunk)); /* kept as long as the code may run */
            chunk->line = line;
            if (start == NULL) {
                start = chunk;
            } else {
                qemu_plugin_register_vcpu_insn_exec_cb(insn, at_line, QEMU_PLUGIN_CB_NO_REGS, chunk);
            }
        }
        chunk->instructions += 1;
        /* Stores too: QEMU 7.2 takes the two for each other, a line written is read first, where it is kept. */
        qemu_plugin_register_vcpu_mem_cb(insn, at_load, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    }
    return start;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t n = qemu_plugin_tb_n_insns(tb);
    (void)id;
    for (size_t first = 0, end = 0; first < n; first = end) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(tb, first);
        const uint64_t address = qemu_plugin_insn_vaddr(insn);
        mark_t *const mark = find(address);
        run_t *run;
        for (end = first + 1; end < n; end += 1) {
            if (find(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, end))) != NULL) {
                break;
            }
        }
        run = record(address, end - first, mark);
        if (mark != NULL) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_mark, QEMU_PLUGIN_CB_NO_REGS, run);
        } else if (memories_len != 0) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_run, QEMU_PLUGIN_CB_NO_REGS, run);
        } else {
            qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &run->entries, 1);
        }
        if (memories_len != 0) {
            run->first = watch(tb, first, end);
        }
    }
}

static void finish(qemu_plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    fprintf(output, "end\n");
    fclose(output);
}

static int read_marks(const char *path)
{
    FILE *const file = fopen(path, "r");
    unsigned long long address;
    long index;
    long highest = -1;
    if (file == NULL) {
        return 0;
    }
    while (fscanf(file, "%llu %ld", &address, &index) == 2) {
        mark_t *const grown = realloc(marks, (marks_len + 1) * sizeof *marks);
        if (grown == NULL || index < END || index > 1000000) {
            fclose(file);
            return 0;
        }
        marks = grown;
        marks[marks_len] = (mark_t){ address, index, marks_len };
        marks_len += 1;
        highest = index > highest ? index : highest;
    }
    fclose(file);
    if (marks_len != 0) {
        qsort(marks, marks_len, sizeof *marks, by_address);
    }
    counts_len = (size_t)(highest + 2);
    return 1;
}

static int memory_option(const char *text, uint64_t caches[2])
{
    memory_t *const m = &memories[memories_len];
    const int n = memories_len == MOST_MEMORIES
                      ? 0
                      : sscanf(text, "%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%d:%d",
                               &m->first, &m->end, &m->line_bytes, &caches[0], &caches[1], &m->waits, &m->comes,
                               &m->reads_ahead, &m->is_stored_to);
    if (n != 9 || m->line_bytes == 0 || m->end < m->first) {
        return 0;
    }
    m->kept_bytes = caches[1];
    memories_len += 1;
    return 1;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    static uint64_t caches[MOST_MEMORIES][2];
    int is_right = 1;
    int have_marks = 0;
    (void)info;
    for (int i = 0; i < argc; i += 1) {
        if (strncmp(argv[i], "marks=", 6) == 0) {
            have_marks = read_marks(argv[i] + 6);
        } else if (strncmp(argv[i], "counts=", 7) == 0) {
            output = fopen(argv[i] + 7, "w");
        } else if (strncmp(argv[i], "memory=", 7) == 0) {
            is_right = is_right && memory_option(argv[i] + 7, caches[memories_len]);
        }
    }
    if (!have_marks || output == NULL || !is_right) {
        fputs("count_plugin: needs marks=FILE and counts=FILE, and whole memory=\n", stderr);
        return 1;
    }
    if (memories_len != 0) {
        make_memories(caches);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
