/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the header of a model for a device may use of <CL/cl.h>, for a C parser. */
#ifndef MCUGEN_STUB_CL_H
#define MCUGEN_STUB_CL_H

typedef struct _cl_kernel *cl_kernel;

#endif
