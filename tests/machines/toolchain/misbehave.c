/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware that goes wrong in the way that a macro names. */
#include "semihost.h"

#if defined(FAULT)
int main(void)
{
    __asm__ volatile(".4byte 0xffffffff"); /* no instruction on any core */
    return 0;
}
#elif defined(HANG)
int main(void)
{
    for (;;) {
    }
}
#elif defined(OVERFLOW)
static __attribute__((noinline)) int deeper(int n)
{
    volatile int frame[64];
    frame[0] = n;
    return n == 0 ? 0 : deeper(n - 1) + frame[0];
}

int main(void)
{
    return deeper(1000000);
}
#elif defined(GIVE_UP)
int main(void)
{
    sim_fail("nothing to do");
}
#elif defined(NO_FILE)
int main(void)
{
    return sim_open_read("absent.bin");
}
#elif defined(SHORT_FILE)
int main(void)
{
    char data[8];
    sim_read(sim_open_read("short.bin"), data, sizeof data);
    return 0;
}
#elif defined(BIG)
static uint8_t model[BIG];

int main(void)
{
    __asm__ volatile("" : : "r"(model) : "memory");
    return 0;
}
#elif defined(PLACED)
static uint8_t fast[1024] __attribute__((section(".ram.axi_sram")));

int main(void)
{
    __asm__ volatile("" : : "r"(fast) : "memory");
    fast[1023] = 7;
    return fast[1023];
}
#else
int main(void)
{
    return 0;
}
#endif
