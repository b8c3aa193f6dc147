/* SPDX-License-Identifier: Apache-2.0 */
/* The part of QEMU's plugin API, version 1, that counting needs: Debian ships no header for it. */
#ifndef QEMU_PLUGIN_H
#define QEMU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };
typedef void (*translate_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*execute_cb)(unsigned int cpu, void *data);
typedef void (*memory_cb)(unsigned int cpu, uint32_t info, uint64_t address, void *data);
typedef void (*exit_cb)(qemu_plugin_id_t id, void *data);

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translate_cb cb);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, execute_cb cb,
                                                   enum qemu_plugin_cb_flags flags, void *data);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, enum qemu_plugin_op op,
                                                       void *counter, uint64_t imm);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, memory_cb cb,
                                             enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *data);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_cb cb, void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

#define EXPORT __attribute__((visibility("default")))
extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

#endif
