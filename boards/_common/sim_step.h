/* SPDX-License-Identifier: Apache-2.0 */
/* Marks for the instruction counter: each is an address in a section that is not loaded, and no instruction.
 * From a mark on, the executed instructions count for its index. */
#ifndef MCUGEN_BOARD_SIM_STEP_H
#define MCUGEN_BOARD_SIM_STEP_H

#if defined(__arm__)
#define MCUGEN_STEP_SECTION ".mcugen_steps,\"\",%progbits"
#else
#define MCUGEN_STEP_SECTION ".mcugen_steps,\"\",@progbits"
#endif

/* An assembler macro keeps each mark on one line: the compiler guesses the size of inline assembly by its lines, and
 * would choose longer branches around longer text. */
__asm__(".macro mcugen_step index\n"
        "7:\n"
        ".pushsection " MCUGEN_STEP_SECTION "\n"
        ".4byte 7b, \\index\n"
        ".popsection\n"
        ".endm");

/* i: a constant expression, 0 or more for the steps of a model. */
#define SIM_STEP(i) __asm__ volatile("mcugen_step %c0" : : "i"(i) : "memory")

#ifndef MCUGEN_STEP /* a firmware that also measures itself has its own, with SIM_STEP in it */
#define MCUGEN_STEP(i) SIM_STEP(i)
#endif

#define SIM_OUTSIDE() SIM_STEP(-1) /* counts for no step */
#define SIM_BEGIN() SIM_STEP(-2)   /* an inference begins: its counters start at 0, outside any step */
#define SIM_END() SIM_STEP(-3)     /* it ends */

#endif
