/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that checked code may use of <limits.h>, for a C parser. */
#ifndef MCUGEN_STUB_LIMITS_H
#define MCUGEN_STUB_LIMITS_H

#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u

#endif
