/* SPDX-License-Identifier: Apache-2.0 */
/* Semihosting by hand: the trap of Arm (bkpt 0xAB) or RISC-V (a marked ebreak), and the stack's paint.
 * Source: Arm "Semihosting for AArch32 and AArch64", operations; "RISC-V Semihosting", the trap sequence. */
#include "semihost.h"

#include "startup.h"

enum {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITE0 = 0x04,
    SYS_WRITE = 0x05,
    SYS_READ = 0x06,
    SYS_FLEN = 0x0C,
    SYS_EXIT_EXTENDED = 0x20
};
enum { MODE_READ_BINARY = 1, MODE_WRITE_BINARY = 5 };
#define APPLICATION_EXIT 0x20026u
#define PAINT 0xC5A3C5A3u
#define PAINT_TEXT "0xC5A3C5A3"

/* The lowest words of the stack: where sim_stack_mark was called, the deepest use seen, and a guard. */
enum { MARK = 0, DEEPEST = 1, GUARD = 2, FIRST = 3 };

#if defined(__arm__)
static int32_t semihost(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return (int32_t)r0;
}
#else
/* The three instructions must be uncompressed and on one page: aligned to 16 bytes they are. */
static __attribute__((noinline)) int32_t semihost(uint32_t operation, const void *argument)
{
    register uint32_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n\t"
                     ".option norvc\n\t"
                     ".balign 16\n\t"
                     "slli x0, x0, 0x1f\n\t"
                     "ebreak\n\t"
                     "srai x0, x0, 7\n\t"
                     ".option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return (int32_t)a0;
}
#endif

static uint32_t length_of(const char *text)
{
    uint32_t n = 0;
    for (const char *p = text; *p != '\0'; p += 1) {
        n += 1;
    }
    return n;
}

void sim_print(const char *text)
{
    (void)semihost(SYS_WRITE0, text);
}

/* No status file is written: that is how the host tells a failure from an exit. */
void sim_fail(const char *message)
{
    const uint32_t block[2] = { APPLICATION_EXIT, 1u };
    sim_print(message);
    sim_print("\n");
    (void)semihost(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

static int open_file(const char *name, uint32_t mode)
{
    const uint32_t block[3] = { (uint32_t)(uintptr_t)name, mode, length_of(name) };
    const int file = (int)semihost(SYS_OPEN, block);
    if (file < 0) {
        sim_print("cannot open the file ");
        sim_fail(name);
    }
    return file;
}

int sim_open_read(const char *name)
{
    return open_file(name, MODE_READ_BINARY);
}

int sim_open_write(const char *name)
{
    return open_file(name, MODE_WRITE_BINARY);
}

uint32_t sim_file_length(int file)
{
    const uint32_t block[1] = { (uint32_t)file };
    const int32_t length = semihost(SYS_FLEN, block);
    if (length < 0) {
        sim_fail("cannot tell the length of a file");
    }
    return (uint32_t)length;
}

void sim_read(int file, void *data, uint32_t length)
{
    const uint32_t block[3] = { (uint32_t)file, (uint32_t)(uintptr_t)data, length };
    if (length != 0 && semihost(SYS_READ, block) != 0) {
        sim_fail("a file is shorter than the firmware wants to read");
    }
}

void sim_write(int file, const void *data, uint32_t length)
{
    const uint32_t block[3] = { (uint32_t)file, (uint32_t)(uintptr_t)data, length };
    if (length != 0 && semihost(SYS_WRITE, block) != 0) {
        sim_fail("cannot write a file");
    }
}

void sim_close(int file)
{
    const uint32_t block[1] = { (uint32_t)file };
    (void)semihost(SYS_CLOSE, block);
}

static uint32_t stack_depth(void)
{
    const volatile uint32_t *const stack = board_stack_limit;
    const uint32_t mark = stack[MARK];
    const uint32_t limit = (uint32_t)(uintptr_t)board_stack_limit;
    const uint32_t words = (mark - limit) / 4u;
    if (stack[GUARD] != PAINT || stack[FIRST] != PAINT) {
        sim_fail("stack overflow: all RAM that is left for the stack was used");
    }
    for (uint32_t i = FIRST; i < words; i += 1) {
        if (stack[i] != PAINT) {
            return mark - limit - 4u * i;
        }
    }
    return 0;
}

/* Bare assembly, without a frame of its own: everything below its caller's stack pointer is free and gets painted.
 * Writes MARK, then GUARD and all words after it up to the stack pointer. */
__attribute__((naked)) void sim_stack_mark(void)
{
#if defined(__arm__)
    __asm__ volatile(".syntax unified\n\t"
                     "ldr r0, =board_stack_limit\n\t"
                     "mov r1, sp\n\t"
                     "str r1, [r0]\n\t"
                     "adds r0, #8\n\t"
                     "ldr r1, =" PAINT_TEXT "\n\t"
                     "1: stmia r0!, {r1}\n\t"
                     "cmp r0, sp\n\t"
                     "bcc 1b\n\t"
                     "bx lr\n\t"
                     ".ltorg");
#else
    __asm__ volatile("la a0, board_stack_limit\n\t"
                     "sw sp, 0(a0)\n\t"
                     "addi a0, a0, 8\n\t"
                     "li a1, " PAINT_TEXT "\n\t"
                     "1: sw a1, 0(a0)\n\t"
                     "addi a0, a0, 4\n\t"
                     "bltu a0, sp, 1b\n\t"
                     "ret");
#endif
}

uint32_t sim_stack_used(void)
{
    volatile uint32_t *const stack = board_stack_limit;
    const uint32_t used = stack_depth();
    if (used > stack[DEEPEST]) {
        stack[DEEPEST] = used;
    }
    return used;
}

void sim_start(void)
{
    board_stack_limit[DEEPEST] = 0;
    sim_stack_mark();
}

static void write_number(int file, const char *label, uint32_t value)
{
    char digits[10];
    uint32_t rest = value;
    uint32_t first = 10;
    for (uint32_t i = 10; i > 0 && (i == 10 || rest != 0); i -= 1) {
        digits[i - 1] = (char)('0' + (int)(rest % 10u));
        rest /= 10u;
        first = i - 1;
    }
    sim_write(file, label, length_of(label));
    sim_write(file, &digits[first], 10u - first);
    sim_write(file, "\n", 1);
}

void sim_exit(int code)
{
    const uint32_t block[2] = { APPLICATION_EXIT, (uint32_t)code & 0xFFu };
    const uint32_t depth = stack_depth();
    const uint32_t deepest = board_stack_limit[DEEPEST];
    const int file = sim_open_write("mcugen_status.txt");
    write_number(file, "stack_bytes ", deepest != 0 ? deepest : depth);
    write_number(file, "exit_code ", block[1]);
    sim_close(file);
    (void)semihost(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

static void print_hex(uint32_t value)
{
    char text[11];
    text[0] = '0';
    text[1] = 'x';
    for (uint32_t i = 0; i < 8; i += 1) {
        const uint32_t digit = (value >> (28u - 4u * i)) & 0xFu;
        text[2 + i] = (char)(digit < 10u ? '0' + (int)digit : 'a' + (int)digit - 10);
    }
    text[10] = '\0';
    sim_print(text);
}

void sim_fault(uint32_t cause, uint32_t pc)
{
    sim_print("fault, status ");
    print_hex(cause);
    sim_print(", at ");
    print_hex(pc);
#if defined(__arm__) && __ARM_ARCH >= 8
    sim_print((cause & 0x100000u) != 0 ? " (stack overflow)" : "");
#endif
    sim_fail("");
}
