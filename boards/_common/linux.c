/* SPDX-License-Identifier: Apache-2.0 */
/* semihost.h for a program of Linux on an emulated processor: files and text by the C library, and the stack's paint.
 * The linker puts __wrap_main in the place of main. */
#include "semihost.h"

#include <stdio.h>
#include <stdlib.h>

/* Words below the stack pointer that are painted; Linux gives a program far more. */
#define WORDS 32768
#define WORDS_TEXT "32768"
#define PAINT 0xC5A3C5A3C5A3C5A3u

enum { FILES = 16 };

int __real_main(void);
int __wrap_main(void);

static FILE *files[FILES];
static uint32_t deepest;
uint64_t *sim_mark; /* the stack pointer where sim_stack_mark was called */

void sim_print(const char *text)
{
    (void)fputs(text, stderr);
}

/* No status file is written: that is how the host tells a failure from an exit. */
void sim_fail(const char *message)
{
    sim_print(message);
    sim_print("\n");
    exit(1);
}

static int open_file(const char *name, const char *mode)
{
    for (int i = 0; i < FILES; i += 1) {
        if (files[i] == NULL) {
            files[i] = fopen(name, mode);
            if (files[i] == NULL) {
                sim_print("cannot open the file ");
                sim_fail(name);
            }
            return i;
        }
    }
    sim_fail("too many files are open");
}

int sim_open_read(const char *name)
{
    return open_file(name, "rb");
}

int sim_open_write(const char *name)
{
    return open_file(name, "wb");
}

uint32_t sim_file_length(int file)
{
    const long at = ftell(files[file]);
    if (at < 0 || fseek(files[file], 0, SEEK_END) != 0) {
        sim_fail("cannot tell the length of a file");
    }
    const long length = ftell(files[file]);
    (void)fseek(files[file], at, SEEK_SET);
    return (uint32_t)length;
}

void sim_read(int file, void *data, uint32_t length)
{
    if (fread(data, 1, length, files[file]) != length) {
        sim_fail("a file is shorter than the firmware wants to read");
    }
}

void sim_write(int file, const void *data, uint32_t length)
{
    if (fwrite(data, 1, length, files[file]) != length) {
        sim_fail("cannot write a file");
    }
}

void sim_close(int file)
{
    (void)fclose(files[file]);
    files[file] = NULL;
}

/* In assembly, without a frame of its own: everything below its caller's stack pointer is free and gets painted. */
__asm__(".text\n"
        ".global sim_stack_mark\n"
        ".type sim_stack_mark, %function\n"
        "sim_stack_mark:\n\t"
        "adrp x0, sim_mark\n\t"
        "mov x1, sp\n\t"
        "str x1, [x0, :lo12:sim_mark]\n\t"
        "mov x2, " WORDS_TEXT "\n\t"
        "sub x0, x1, x2, lsl 3\n\t"
        "ldr x3, =0xC5A3C5A3C5A3C5A3\n\t"
        "1: str x3, [x0], 8\n\t"
        "cmp x0, x1\n\t"
        "b.cc 1b\n\t"
        "ret\n\t"
        ".ltorg\n\t"
        ".size sim_stack_mark, . - sim_stack_mark");

static uint32_t stack_depth(void)
{
    const volatile uint64_t *const lowest = sim_mark - WORDS;
    for (uint32_t i = 0; i < WORDS; i += 1) {
        if (lowest[i] != PAINT) {
            if (i == 0) {
                sim_fail("stack overflow: more than the painted part of the stack was used");
            }
            return (WORDS - i) * 8u;
        }
    }
    return 0;
}

uint32_t sim_stack_used(void)
{
    const uint32_t used = stack_depth();
    deepest = used > deepest ? used : deepest;
    return used;
}

void sim_exit(int code)
{
    const uint32_t depth = stack_depth();
    FILE *const status = fopen("mcugen_status.txt", "w");
    if (status == NULL) {
        sim_fail("cannot open the file mcugen_status.txt");
    }
    (void)fprintf(status, "stack_bytes %lu\nexit_code %d\n", (unsigned long)(deepest != 0 ? deepest : depth),
                  code & 0xFF);
    (void)fclose(status);
    exit(code & 0xFF);
}

int __wrap_main(void)
{
    sim_stack_mark();
    sim_exit(__real_main());
}
