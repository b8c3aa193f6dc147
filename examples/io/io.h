/* SPDX-License-Identifier: Apache-2.0 */
/* Where an example's input comes from and its results go: a file and text, on a computer or on an emulated core. */
#ifndef EXAMPLE_IO_H
#define EXAMPLE_IO_H

#include <stdbool.h>
#include <stdint.h>

/* Reads exactly `length` bytes; false where fewer are left. */
bool io_read(void *data, uint32_t length);

void io_print(const char *text);

/* A space and a number. */
void io_print_number(int32_t value);

#endif
