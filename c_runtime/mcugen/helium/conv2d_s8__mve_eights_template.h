/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8__mve_template.h"
