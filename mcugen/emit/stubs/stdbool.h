/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that checked code may use of <stdbool.h>, for a C parser. */
#ifndef MCUGEN_STUB_STDBOOL_H
#define MCUGEN_STUB_STDBOOL_H

#define bool _Bool
#define true 1
#define false 0

#endif
