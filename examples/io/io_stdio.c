/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input and output. */
#include <stdio.h>

#include "io.h"

bool io_read(void *data, uint32_t length)
{
    return fread(data, 1, length, stdin) == length;
}

void io_print(const char *text)
{
    fputs(text, stdout);
}

void io_print_number(int32_t value)
{
    printf(" %ld", (long)value);
}
