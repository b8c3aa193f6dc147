/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of NAME_profile.h on a core that this file plays: two runs of two layers, and their log. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define __arm__ 1
#undef __ARM_ARCH
#define __ARM_ARCH ARCH

static uint64_t now = 0xFFFFF000u; /* both counters wrap on the way */
static uint32_t demcr, ctrl, lar, csr, rvr, word;

/* A register of the core, as it reads now; each access takes a cycle. */
static volatile uint32_t *reg(uint32_t address)
{
    now += 1u;
    switch (address) {
    case 0xE000EDFCu: return &demcr;
    case 0xE0001FB0u: return &lar;
    case 0xE0001000u: word = 0u; return !HAS_DWT || (LOCKED && lar != 0xC5ACCE55u) ? &word : &ctrl;
    case 0xE0001004u:
        word = (demcr >> 24 & 1u) != 0u && (ctrl & 1u) != 0u ? (uint32_t)now : 0u;
        return &word;
    case 0xE000E010u: return &csr;
    case 0xE000E014u: return &rvr;
    case 0xE000E018u:
        word = csr == 5u && rvr == 0xFFFFFFu ? rvr - (uint32_t)(now & 0xFFFFFFu) : 0u;
        return &word;
    default: exit(2);
    }
}
#define MCUGEN_REG(address) (*reg(address))
#define MCUGEN_MICROS() ((uint32_t)(now / 80u))
#define MCUGEN_PROFILE_HERE
#include "digits_profile.h"

static void put(char c)
{
    putchar(c);
}

int main(void)
{
    MCUGEN_STEP(1u); /* of one before the first */
    for (int run = 0; run < 2; run += 1) {
        now += 12345u; /* between runs, and in the mark of another: not of a layer */
        mcugen_profile_begin();
        for (uint32_t step = 0u; step < MCUGEN_PROFILE_STEPS; step += 1u) {
            MCUGEN_STEP(step);
            now += (step + 1u) * CYCLES;
        }
        mcugen_profile_end();
    }
    MCUGEN_STEP(1u); /* of a run that is not measured */
    now += 99u;
    mcugen_profile_end();
    mcugen_profile_log(put);
    return 0;
}
