/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/banded_f32.h"

#define MG_BANDED mg_banded_f32__across
#define MG_BANDED_PARAMS mg_banded_f32_params
#define MG_BANDED_STORED mg_f32
#define MG_BANDED_SUM float
#define MG_BANDED_FINISH(sum) (sum)
#define MG_BANDED_COPIES(weight) 0 /* 0 + 1 * -0 is 0, not -0 */
#include "mcugen/banded_across_template.h"
