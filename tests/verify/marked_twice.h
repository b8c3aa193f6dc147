/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of a profile, between two of the emulator's counter: it counts what runs from one mark's return to the next call. */
#include "digits_profile.h"

#undef MCUGEN_STEP
#define MCUGEN_STEP(i)            \
    do {                          \
        SIM_OUTSIDE();            \
        mcugen_profile_mark(i);   \
        SIM_STEP(i);              \
    } while (0)
#include "sim_step.h"
