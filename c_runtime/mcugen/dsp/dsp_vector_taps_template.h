/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of dsp_vector_block_template.h.
 *
 *   MG_FRAME   bytes of the stack frame
 *   MG_BEGIN   copies the arguments to the frame
 *   MG_TAPS    multiplies all taps; with MG_WINDOWS row by row, see dsp_windows.h
 *   MG_BEYOND  code behind the function's end, for windows that reach beyond the image
 */
#ifdef MG_WINDOWS
#define MG_FRAME "36"
#define MG_BEGIN                         \
    "ldmia r0, {r4-r11, lr}\n"           \
    "stmia sp, {r4-r11}\n"
/* Code for windows inside the image. r2: pointer into the table of rows, r3: offset in a row, then the end of the row's
 * steps */
#define MG_TAPS                          \
    "ldrd r2, r3, [sp, #16]\n"           \
    ".if " MG_TEXT(MG_EDGES) "\n"        \
    "cmp r3, #0\n"                       \
    "bne 7f\n"                           \
    ".endif\n"                           \
    "mov r3, r2\n"                       \
    "ldr r2, [sp]\n"                     \
    "5:\n"                               \
    "ldr r12, [r2], #4\n"                \
    ".if " MG_TEXT(MG_LOOP) "\n"         \
    "ldr r3, [sp, #16]\n"                \
    "add r12, r12, r3\n"                 \
    "addw r3, r12, #4 * " MG_TEXT(MG_STEPS) "\n" \
    "2:\n"                               \
    ".else\n"                            \
    "add r12, r12, r3\n"                 \
    ".endif\n"                           \
    ".rept " MG_TEXT(MG_UNROLL) "\n"     \
    MG_STEP                              \
    ".endr\n"                            \
    ".if " MG_TEXT(MG_LOOP) "\n"         \
    "cmp r12, r3\n"                      \
    "bne 2b\n"                           \
    ".endif\n"                           \
    MG_REST                              \
    "ldr r8, [sp, #4]\n"                 \
    "cmp r2, r8\n"                       \
    "bne 5b\n"                           \
    "6:\n"
/* Code for windows that reach beyond the image. r3: pointer to `edges`, then the end of a row's words inside the image
 */
#if MG_EDGES == 2
#define MG_BEYOND                        \
    "7:\n"                               \
    "ldr r8, [sp, #28]\n"                \
    "ldmia r8!, {r4-r7}\n"               \
    "str r8, [sp, #28]\n"                \
    "ldr r2, [sp]\n"                     \
    "8:\n"                               \
    "ldr r3, [sp, #20]\n"                \
    "ldr r12, [r2], #4\n"                \
    "ldmia r3, {r8-r10}\n"               \
    "add r12, r12, r8\n"                 \
    "add r3, r12, r9\n"                  \
    "add lr, lr, r10\n"                  \
    "9:\n"                               \
    MG_STEP                              \
    "cmp r12, r3\n"                      \
    "bne 9b\n"                           \
    "ldr r3, [sp, #20]\n"                \
    "ldr r8, [r3, #12]\n"                \
    "ldr r9, [sp, #4]\n"                 \
    "add lr, lr, r8\n"                   \
    "cmp r2, r9\n"                       \
    "bne 8b\n"                           \
    "b 6b\n"
#elif MG_EDGES
#define MG_BEYOND                        \
    "7:\n"                               \
    "ldr r2, [sp]\n"                     \
    "8:\n"                               \
    "ldr r12, [r2], #4\n"                \
    "ldr r3, [sp, #20]\n"                \
    "9:\n"                               \
    "ldrd r8, r9, [r3], #8\n"            \
    "lsr r10, r8, #16\n"                 \
    "ldr r1, [r12, r10]\n"               \
    "lsl r1, r1, r8\n"                   \
    "lsr r8, r8, #8\n"                   \
    "lsr r1, r1, r8\n"                   \
    "orr r1, r1, r9\n"                   \
    MG_READ                              \
    "ldr r8, [sp, #24]\n"                \
    "cmp r3, r8\n"                       \
    "bne 9b\n"                           \
    "ldr r8, [sp, #4]\n"                 \
    "cmp r2, r8\n"                       \
    "bne 8b\n"                           \
    "b 6b\n"
#else
#define MG_BEYOND
#endif
#else
#define MG_FRAME "20"
#define MG_BEGIN                         \
    "ldmia r0, {r4-r7, lr}\n"            \
    "stmia sp, {r4-r7}\n"
#define MG_TAPS                          \
    "ldr r12, [sp]\n"                    \
    MG_LEAD                              \
    "2:\n"                               \
    ".rept " MG_TEXT(MG_UNROLL) "\n"     \
    MG_STEP                              \
    ".endr\n"                            \
    ".if " MG_TEXT(MG_LOOP) "\n"         \
    "ldr r8, [sp, #4]\n"                 \
    "cmp r12, r8\n"                      \
    "bne 2b\n"                           \
    ".endif\n"                           \
    MG_REST
#define MG_BEYOND
#endif
