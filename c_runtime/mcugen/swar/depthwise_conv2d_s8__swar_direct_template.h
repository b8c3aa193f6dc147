/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * swar_direct -> swar
 */
#include "mcugen/swar_lanes_template.h"
