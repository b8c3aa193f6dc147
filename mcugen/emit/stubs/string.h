/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that checked code may use of <string.h>, for a C parser. */
#ifndef MCUGEN_STUB_STRING_H
#define MCUGEN_STUB_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#endif
