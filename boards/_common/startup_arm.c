/* SPDX-License-Identifier: Apache-2.0 */
/* Reset and faults of a Cortex-M: vector table, FPU and Helium on, .data and .bss, main. */
#include "startup.h"

void board_reset(void) __attribute__((noreturn));
static void start_on_stack(void) __attribute__((noreturn, noinline));

#define CPACR (*(volatile uint32_t *)0xE000ED88u)
#define CFSR (*(volatile uint32_t *)0xE000ED28u)

static void start_on_stack(void)
{
    board_start();
}

/* The FPU must be on before the first function that may save its registers, so nothing is inlined here. */
void board_reset(void)
{
#if defined(__ARM_FP) || (defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE != 0)
    CPACR |= 0xFu << 20;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
#ifdef __ARM_ARCH_8M_MAIN__
#define STACK_LIMIT_REGISTER 1
#elif defined(__ARM_ARCH_8_1M_MAIN__)
#define STACK_LIMIT_REGISTER 1
#endif
#if defined(STACK_LIMIT_REGISTER)
    __asm__ volatile("msr msplim, %0" : : "r"(board_stack_limit));
#endif
    start_on_stack();
}

#ifdef MCUGEN_SIMULATED
static void report_fault(const uint32_t *frame) __attribute__((noreturn, used));

static void report_fault(const uint32_t *frame)
{
    uint32_t cause = 3; /* HardFault: all that Armv6-M tells */
#if __ARM_ARCH >= 7
    cause = CFSR;
#endif
    const int on_stack = frame >= board_stack_limit && frame + 8 <= board_stack_top;
    sim_fault(cause, on_stack ? frame[6] : 0u);
}

/* The stack may be what broke, so the report runs from the top of a fresh one. */
static __attribute__((naked)) void fault(void)
{
    __asm__ volatile(".syntax unified\n\t"
                     "mrs r0, msp\n\t"
                     "ldr r1, =board_stack_top\n\t"
                     "msr msp, r1\n\t"
                     "ldr r1, =report_fault\n\t"
                     "bx r1\n\t"
                     ".ltorg");
}
#else
static void fault(void)
{
    for (;;) {
    }
}
#endif

typedef struct {
    const uint32_t *stack_top;
    void (*handler[15])(void);
} vectors_t;

extern const vectors_t board_vectors;
__attribute__((section(".vectors"), used)) const vectors_t board_vectors = {
    board_stack_top,
    { board_reset, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault },
};
