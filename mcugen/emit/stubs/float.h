/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that checked code may use of <float.h>, for a C parser. */
#ifndef MCUGEN_STUB_FLOAT_H
#define MCUGEN_STUB_FLOAT_H

#define FLT_MAX 3.40282347e+38f
#define FLT_MIN 1.17549435e-38f
#define FLT_EPSILON 1.19209290e-7f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16

#endif
