/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU TCG plugin: counts executed guest instructions exactly, split by marks.
 *
 * Arguments: marks=FILE, lines "address index" (decimal); counts=FILE, written: a line "inference", then "index count" each.
 * When the instruction at a mark's address is about to execute, instructions count for its index from this one on.
 * Index -2 begins an inference, -3 ends it, -1 belongs to no step. Two marks may share an address; they act in order.
 *
 * The prototypes are those of QEMU's plugin API version 1, declared here because Debian ships no header for them.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };
typedef void (*translate_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*execute_cb)(unsigned int cpu, void *data);
typedef void (*exit_cb)(qemu_plugin_id_t id, void *data);

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translate_cb cb);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, execute_cb cb,
                                                   enum qemu_plugin_cb_flags flags, void *data);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, enum qemu_plugin_op op,
                                                       void *counter, uint64_t imm);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_cb cb, void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

#define EXPORT __attribute__((visibility("default")))
extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

enum { OUTSIDE = -1, BEGIN = -2, END = -3 };

typedef struct {
    uint64_t address;
    long index;
    size_t order; /* in the file: marks at one address act in that order */
} mark_t;

static mark_t *marks;
static size_t marks_len;
static uint64_t *counts; /* [0] outside, [1 + i] step i */
static size_t counts_len;
static size_t current;
static int running;
static uint64_t executed; /* every instruction since the start */
static uint64_t settled;  /* those already given to a counter */
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

static void write_counts(void)
{
    fputs("inference\n", output);
    for (size_t i = 0; i < counts_len; i += 1) {
        if (counts[i] != 0) {
            fprintf(output, "%ld %" PRIu64 "\n", (long)i - 1, counts[i]);
        }
    }
}

static void act(long index)
{
    if (index == BEGIN) {
        memset(counts, 0, counts_len * sizeof *counts);
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
    const mark_t *const first = data;
    (void)cpu;
    if (running) {
        counts[current] += executed - settled;
    }
    settled = executed;
    for (const mark_t *m = first; m < marks + marks_len && m->address == first->address; m += 1) {
        act(m->index);
    }
    executed += 1; /* the marked instruction itself, which has no inline count */
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t n = qemu_plugin_tb_n_insns(tb);
    (void)id;
    for (size_t i = 0; i < n; i += 1) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(tb, i);
        mark_t *const mark = find(qemu_plugin_insn_vaddr(insn));
        if (mark != NULL) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_mark, QEMU_PLUGIN_CB_NO_REGS, mark);
        } else {
            qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &executed, 1);
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
    counts = calloc(counts_len, sizeof *counts);
    return counts != NULL;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    int have_marks = 0;
    (void)info;
    for (int i = 0; i < argc; i += 1) {
        if (strncmp(argv[i], "marks=", 6) == 0) {
            have_marks = read_marks(argv[i] + 6);
        } else if (strncmp(argv[i], "counts=", 7) == 0) {
            output = fopen(argv[i] + 7, "w");
        }
    }
    if (!have_marks || output == NULL) {
        fputs("count_plugin: needs marks=FILE and counts=FILE\n", stderr);
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
