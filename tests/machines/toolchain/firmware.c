/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges bytes, and marks steps whose instructions can be counted by hand. */
#include "semihost.h"

static uint8_t data[64];

/* Two instructions, n times. */
static __attribute__((noinline)) void loop(uint32_t n)
{
#if defined(__arm__)
    __asm__ volatile(".syntax unified\n\t1: subs %0, #1\n\tbne 1b" : "+l"(n) : : "cc");
#elif defined(__aarch64__)
    __asm__ volatile("1: subs %w0, %w0, 1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
    __asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(n));
#endif
}

#define NOPS(n) __asm__ volatile(".rept " #n "\n\tnop\n\t.endr")

/* Inlined twice: one step at two places. */
static inline __attribute__((always_inline)) void inlined_step(void)
{
    MCUGEN_STEP(5);
    NOPS(10);
    SIM_OUTSIDE();
}

/* The last instruction of a function without a frame; GCC for aarch64 has no attribute for these, and adds it. */
#if defined(__arm__)
#define NAKED __attribute__((naked))
#define RETURN "bx lr"
#elif defined(__aarch64__)
#define NAKED
#define RETURN ""
#else
#define NAKED __attribute__((naked))
#define RETURN "ret"
#endif

/* Longer than any block the emulator translates at once. */
static NAKED __attribute__((noinline)) void long_step(void)
{
    MCUGEN_STEP(3);
    NOPS(600);
    SIM_OUTSIDE();
    __asm__ volatile(RETURN);
}

static __attribute__((noinline)) uint32_t use_stack(void)
{
    volatile uint8_t frame[1000];
    frame[0] = 1;
    frame[999] = 2;
    return (uint32_t)frame[0] + frame[999];
}

int main(void)
{
    const int in = sim_open_read("input.bin");
    const uint32_t length = sim_file_length(in);
    volatile float x = 0.5f;
    uint32_t total = 0;

    sim_read(in, data, length);
    sim_close(in);
    for (uint32_t i = 0; i < length; i += 1) {
        data[i] = (uint8_t)(data[i] ^ 0x5Au);
    }
    const int out = sim_open_write("output.bin");
    sim_write(out, data, length);
    sim_close(out);

    for (uint32_t i = 0; i < 2; i += 1) {
        sim_stack_mark();
        SIM_BEGIN();
        MCUGEN_STEP(0);
        loop(1000000u);
        MCUGEN_STEP(1);
        loop(1000u);
        MCUGEN_STEP(2);
        NOPS(37);
        long_step();
        MCUGEN_STEP(4);
        NOPS(1);
        inlined_step();
        inlined_step();
        SIM_END();
        total += use_stack();
        if (sim_stack_used() < 1000u || sim_stack_used() > 1100u) {
            sim_fail("the stack's depth is not that of use_stack");
        }
    }
    sim_print("done\n");
    return total == 6u && x * 4.0f == 2.0f ? 42 : 1;
}
