/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware of an emulated board: two runs measured, their log over the UART when asked, then answers to `mcugen validate`. */
#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))
#define REG8(address) (*(volatile uint8_t *)(address))

#if defined(__riscv)
#define UART 0x10000000u
static int get_byte(void)
{
    while ((REG8(UART + 5u) & 1u) == 0u) {
    }
    return REG8(UART);
}
static void put_byte(int byte)
{
    while ((REG8(UART + 5u) & 0x20u) == 0u) {
    }
    REG8(UART) = (uint8_t)byte;
}
#else
#ifndef UART
#define UART 0x40004000u /* CMSDK UART of the MPS2 boards */
#endif
static int get_byte(void)
{
    while ((REG(UART + 4u) & 2u) == 0u) {
    }
    return (int)(REG(UART) & 0xFFu);
}
static void put_byte(int byte)
{
    while ((REG(UART + 4u) & 1u) != 0u) {
    }
    REG(UART) = (uint32_t)byte;
}
#endif
static void put_char(char c)
{
    put_byte(c);
}

#define MCUGEN_PROFILE_HERE
#include "digits_profile.h"
#define MCUGEN_GET get_byte
#define MCUGEN_PUT put_byte
#include "digits_validate.h"

static digits_t model;

int main(void)
{
#if !defined(__riscv)
    REG(UART + 16u) = 16u; /* baud divider: any that is allowed */
    REG(UART + 8u) = 3u;
#endif
    for (int i = 0; i < 2; i += 1) {
        for (uint32_t k = 0u; k < DIGITS_INPUT_LEN; k += 1u) {
            digits_input(&model)[k] = 0; /* once more: layers wrote over it */
        }
        SIM_BEGIN();
        mcugen_profile_begin();
        digits_run(&model);
        SIM_OUTSIDE();
        mcugen_profile_end();
        SIM_END();
    }
    while (get_byte() != 'L') {
    }
    mcugen_profile_log(put_char);
    for (;;) {
        digits_validate(&model);
    }
}
