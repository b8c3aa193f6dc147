/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/banded_u8.h"

#define MG_BANDED mg_banded_u8__across
#define MG_BANDED_PARAMS mg_banded_u8_params
#define MG_BANDED_STORED uint8_t
#define MG_BANDED_SUM int32_t
#define MG_BANDED_FINISH(sum) ((uint8_t)mg_clamp(((sum) + (1 << 21)) >> 22, 0, 255))
#define MG_BANDED_COPIES(weight) ((weight) == 1 << 22)
#include "mcugen/banded_across_template.h"
