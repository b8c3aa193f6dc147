/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/swar_lanes_template.h"
