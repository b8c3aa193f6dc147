/* SPDX-License-Identifier: Apache-2.0
 *
 * The GRU layer of gru_s8.h with weights of 4 bits: two to a byte, the first in the lower half; rows begin new bytes.
 */
#ifndef MCUGEN_NIBBLE_GRU_S8_H
#define MCUGEN_NIBBLE_GRU_S8_H

#include "mcugen/gru_s8.h"

typedef mg_gru_s8_params mg_nibble_gru_s8_params;

void mg_gru_s8__nibbles(const mg_nibble_gru_s8_params *p, const int8_t *x, const mg_s16 *h0, int8_t *y, mg_s16 *h,
                        void *scratch);

#endif /* MCUGEN_NIBBLE_GRU_S8_H */
