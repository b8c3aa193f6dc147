/* SPDX-License-Identifier: Apache-2.0 */
/* Files, text and exit of a simulated firmware, through the emulator's semihosting trap; and its stack depth.
 * Nothing here uses libc. Every call that fails ends the simulation with a message, so a caller needs no error path. */
#ifndef MCUGEN_BOARD_SEMIHOST_H
#define MCUGEN_BOARD_SEMIHOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A file of the folder the emulator runs in. */
int sim_open_read(const char *name);
int sim_open_write(const char *name);
uint32_t sim_file_length(int file);                            /* bytes */
void sim_read(int file, void *data, uint32_t length);          /* exactly length bytes */
void sim_write(int file, const void *data, uint32_t length);
void sim_close(int file);

void sim_print(const char *text);
void sim_exit(int code) __attribute__((noreturn));             /* what return from main does; code 0..255 */
void sim_fail(const char *message) __attribute__((noreturn));  /* the command that simulates reports an error */

/* Paints the free stack; then the bytes of it used below the caller of sim_stack_mark since.
 *   sim_stack_mark();  kws_run(&kws);  used = sim_stack_used();
 * The largest value returned is what the simulation reports; without any call, the depth of main and all below it. */
void sim_stack_mark(void);
uint32_t sim_stack_used(void);

#ifdef __cplusplus
}
#endif
#endif
