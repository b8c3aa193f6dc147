/* SPDX-License-Identifier: Apache-2.0 */
/* Reset and traps of a RISC-V core in machine mode: registers, .data and .bss, main. */
#include "startup.h"

void board_reset(void);
void board_start_on_stack(void) __attribute__((noreturn));

void board_start_on_stack(void)
{
    board_start();
}

#ifdef MCUGEN_SIMULATED
#define TRAP "board_trap"
void board_trap(void);
void board_report_trap(uint32_t cause, uint32_t pc) __attribute__((noreturn));

void board_report_trap(uint32_t cause, uint32_t pc)
{
    sim_fault(cause, pc);
}

/* The stack may be what broke, so the report runs from the top of a fresh one. */
__attribute__((naked, aligned(4))) void board_trap(void)
{
    __asm__ volatile(".option push\n\t"
                     ".option arch, +zicsr\n\t"
                     "csrr a0, mcause\n\t"
                     "csrr a1, mepc\n\t"
                     "la sp, board_stack_top\n\t"
                     "la t0, board_report_trap\n\t"
                     "jr t0\n\t"
                     ".option pop");
}
#else
#define TRAP "1f"
#endif

__attribute__((naked, section(".vectors"), used)) void board_reset(void)
{
    __asm__ volatile(".option push\n\t"
                     ".option arch, +zicsr\n\t"
                     ".option norelax\n\t"
                     "la gp, __global_pointer$\n\t"
                     "la sp, board_stack_top\n\t"
                     "la tp, board_tls_start\n\t"
                     "la t0, " TRAP "\n\t"
                     "csrw mtvec, t0\n\t"
                     "la t0, board_start_on_stack\n\t"
                     "jr t0\n\t"
                     ".balign 4\n\t"
                     "1: j 1b\n\t"
                     ".option pop");
}
