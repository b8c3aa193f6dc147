/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that checked code may use of <stddef.h>, for a C parser. */
#ifndef MCUGEN_STUB_STDDEF_H
#define MCUGEN_STUB_STDDEF_H

typedef unsigned long size_t;
typedef long ptrdiff_t;

#define NULL ((void *)0)
#define offsetof(type, member) ((size_t)&((type *)0)->member)

#endif
