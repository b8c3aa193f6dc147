/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels with sizes that are known when the model is compiled. Such a kernel is a template header,
 * <symbol>_template.h. Each set of sizes makes a source file, which defines MG_KERNEL, the name of the function, and a
 * constant MG_<SIZE> for each size:
 *
 *   MG_VARIANT(f)         <MG_KERNEL>_f: the name of a function of this source file
 *   MG_TEXT(x)            the value of macro x as text, for assembly
 *   MG_LINKAGE            empty; or static if all of a model is one file
 *   MG_DECLARE_<symbol>   declares the functions of such a file; the kernel's own header defines it
 *   MG_PART(f, row)       f_row, in such a declaration
 */
#ifndef MCUGEN_VARIANT_H
#define MCUGEN_VARIANT_H

#include "mcugen/runtime.h"

#define MG_PART_(f, part) f##_##part
#define MG_PART(f, part) MG_PART_(f, part)
#define MG_VARIANT(part) MG_PART(MG_KERNEL, part)

#define MG_TEXT_(x) #x
#define MG_TEXT(x) MG_TEXT_(x)

#ifndef MG_LINKAGE
#define MG_LINKAGE
#endif

#endif /* MCUGEN_VARIANT_H */
