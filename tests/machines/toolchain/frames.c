/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with frames of known kinds: small, large, gone before a tail call; and what has no bound. */
#include <stdint.h>

void touch(volatile uint8_t *p);
int last(int x);
int small(int x);
int large(int x);
int before_tail(int x);
int library(int x);
int chooses(int x);
int repeats(int x);
int through_pointer(int x);
int jumps_through_pointer(int x);
int of_any_size(int x);

__attribute__((noinline)) void touch(volatile uint8_t *p)
{
    p[0] = 1;
}

__attribute__((noinline)) int last(int x)
{
    volatile uint8_t bytes[96];
    touch(&bytes[x & 63]);
    return bytes[0];
}

__attribute__((noinline)) int small(int x)
{
    volatile uint8_t bytes[40];
    touch(&bytes[x & 31]);
    return last(x) + bytes[3];
}

__attribute__((noinline)) int large(int x)
{
    volatile uint8_t bytes[9000];
    touch(&bytes[x]);
    return small(x) + bytes[100];
}

__attribute__((noinline)) int before_tail(int x)
{
    volatile uint8_t bytes[200];
    bytes[x & 127] = 3;
    return last(x + bytes[5]);
}

__attribute__((noinline)) int library(int x)
{
    const int64_t a = INT64_C(0x123456789) * x;
    return (int)(a / ((int64_t)x * x + 3));
}

__attribute__((noinline)) int chooses(int x)
{
    switch (x) {
    case 0: return small(1) + 7;
    case 1: return last(2) - 3;
    case 2: return large(4) * 5;
    case 3: return before_tail(9) ^ 9;
    case 4: return small(5) | 1;
    case 5: return last(x) / 7;
    default: return x;
    }
}

__attribute__((noinline)) int repeats(int x)
{
    return x < 2 ? 1 : x * repeats(x - 1) + repeats(x - 2);
}

static int (*volatile pointer)(int) = last;

__attribute__((noinline)) int through_pointer(int x)
{
    return pointer(x) + 1;
}

__attribute__((noinline)) int jumps_through_pointer(int x)
{
    return pointer(x);
}

__attribute__((noinline)) int of_any_size(int x)
{
    volatile uint8_t *const bytes = __builtin_alloca((unsigned)x);
    touch(bytes);
    return last(x) + bytes[0];
}

int main(void)
{
    return (chooses(2) + library(7) + repeats(3) + through_pointer(1) + jumps_through_pointer(2) + of_any_size(8)) & 1;
}
