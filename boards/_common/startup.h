/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by start-up code and link script: the symbols of sections.ld, and the steps between reset and main. */
#ifndef MCUGEN_BOARD_STARTUP_H
#define MCUGEN_BOARD_STARTUP_H

#include <stdint.h>

extern uint32_t board_stack_limit[]; /* lowest address of the stack */
extern uint32_t board_stack_top[];   /* first address past it */
extern uint32_t board_data_load[], board_data_start[], board_data_end[];
#ifdef BOARD_COPIES
typedef struct {
    const uint32_t *from;
    uint32_t *to;
    uint32_t bytes;
} board_copy_t;
extern const board_copy_t board_copies_start[], board_copies_end[]; /* constants that belong into further RAM */
#endif
extern uint32_t board_bss_start[], board_bss_end[];

int main(void);

#ifdef MCUGEN_SIMULATED
void sim_start(void);                                        /* paints the stack */
void sim_exit(int code) __attribute__((noreturn));           /* ends the emulator */
void sim_fault(uint32_t cause, uint32_t pc) __attribute__((noreturn));
#endif

/* Copies .data, clears .bss, calls main; runs on a valid stack. The empty asm keeps the compiler from making the loops
 * calls of memcpy and memset, which would cost flash in an image that has no other use for them. */
static inline __attribute__((noreturn)) void board_start(void)
{
    for (uint32_t i = 0; i < (uint32_t)(board_data_end - board_data_start); i += 1) {
        board_data_start[i] = board_data_load[i];
        __asm__ volatile("" ::: "memory");
    }
    for (uint32_t i = 0; i < (uint32_t)(board_bss_end - board_bss_start); i += 1) {
        board_bss_start[i] = 0;
        __asm__ volatile("" ::: "memory");
    }
#ifdef BOARD_COPIES
    for (const board_copy_t *copy = board_copies_start; copy < board_copies_end; copy += 1) {
        for (uint32_t i = 0; i < copy->bytes / 4u; i += 1) {
            copy->to[i] = copy->from[i];
            __asm__ volatile("" ::: "memory");
        }
    }
#endif
#ifdef MCUGEN_SIMULATED
    sim_start();
    sim_exit(main());
#else
    (void)main();
    for (;;) {
    }
#endif
}

#endif
