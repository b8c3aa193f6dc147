/* SPDX-License-Identifier: Apache-2.0 */
#define MG_COMPOSITE 1
#define MG_SINGLE 0
#include "mcugen/dsp_windows_template.h"
#undef MG_COMPOSITE
#undef MG_SINGLE
