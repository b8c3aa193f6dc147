/* SPDX-License-Identifier: Apache-2.0 */
/* Copies:
 * swar_direct -> swar
 */
#include "mcugen/swar_lanes_template.h"
