/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two vectors of unsigned bytes with two others.
 */
#ifndef MCUGEN_SWAR_BYTES_H
#define MCUGEN_SWAR_BYTES_H

#include "mcugen/runtime.h"

#if defined(__ARM_ARCH_6M__) && defined(__GNUC__)

/* Adds the products of one element of each vector. r8-r11: sums, r2-r6: data */
#define MG_SWAR_BYTE_PRODUCTS(at)                                                                                       \
    "ldrb r2, [r0, #" at "]\nldrb r3, [r0, #" at "+1]\nldrb r4, [r1, #" at "]\nldrb r5, [r1, #" at "+1]\n"         \
    "movs r6, r2\nmuls r6, r4, r6\nadd r8, r8, r6\nmuls r2, r5, r2\nadd r9, r9, r2\n"                              \
    "muls r4, r3, r4\nadd r10, r10, r4\nmuls r5, r3, r5\nadd r11, r11, r5\n"

/* Moves both pointers on by `step` bytes and repeats from the label 1 or 3 until they reach the end. */
#define MG_SWAR_BYTE_NEXT(step, label) "adds r0, #" step "\nadds r1, #" step "\ncmp r0, r12\nbne " label "b\n"

/* sums[i][j] += sum over k < n of u[k][i] * v[k][j]. u, v: [n][2]. r12: end of u */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_swar_bytes(
    const uint8_t *u MCUGEN_UNUSED, const uint8_t *v MCUGEN_UNUSED, uint32_t n MCUGEN_UNUSED, uint32_t *sums MCUGEN_UNUSED)
{
    __asm__(".syntax unified\n"
            "push {r2-r7, lr}\n"
            "mov r4, r8\nmov r5, r9\nmov r6, r10\nmov r7, r11\n"
            "push {r4-r7}\n"
            "ldmia r3!, {r4-r7}\n"
            "mov r8, r4\nmov r9, r5\nmov r10, r6\nmov r11, r7\n"
            "lsrs r3, r2, #2\nlsls r3, r3, #3\nadds r3, r3, r0\nmov r12, r3\n"
            "cmp r0, r12\n"
            "beq 2f\n"
            "1:\n" MG_SWAR_BYTE_PRODUCTS("0") MG_SWAR_BYTE_PRODUCTS("2") MG_SWAR_BYTE_PRODUCTS("4") MG_SWAR_BYTE_PRODUCTS("6")
            MG_SWAR_BYTE_NEXT("8", "1")
            "2:\n"
            "ldr r2, [sp, #16]\nmovs r3, #3\nands r3, r2\nlsls r3, r3, #1\nadds r3, r3, r0\nmov r12, r3\n"
            "cmp r0, r12\n"
            "beq 4f\n"
            "3:\n" MG_SWAR_BYTE_PRODUCTS("0") MG_SWAR_BYTE_NEXT("2", "3")
            "4:\n"
            "ldr r0, [sp, #20]\n"
            "mov r4, r8\nmov r5, r9\nmov r6, r10\nmov r7, r11\n"
            "stmia r0!, {r4-r7}\n"
            "pop {r4-r7}\n"
            "mov r8, r4\nmov r9, r5\nmov r10, r6\nmov r11, r7\n"
            "pop {r2-r7, pc}\n");
}

#else

/* Adds the products of one element of each vector. */
static inline void mg_swar_byte_products(uint32_t *sums, const uint8_t *u, const uint8_t *v)
{
    const uint32_t u0 = u[0], u1 = u[1], v0 = v[0], v1 = v[1];
    sums[0] += u0 * v0;
    sums[1] += u0 * v1;
    sums[2] += u1 * v0;
    sums[3] += u1 * v1;
}

/* sums[i][j] += sum over k < n of u[k][i] * v[k][j]. u, v: [n][2] */
static MCUGEN_UNUSED void mg_swar_bytes(const uint8_t *u, const uint8_t *v, uint32_t n, uint32_t *sums)
{
    uint32_t found[4] = {sums[0], sums[1], sums[2], sums[3]};
    const uint32_t quads = n & ~3u;
    for (uint32_t k = 0u; k < quads; k += 4u) {
        const uint8_t *const x = u + 2u * k, *const y = v + 2u * k;
        mg_swar_byte_products(found, x, y);
        mg_swar_byte_products(found, x + 2, y + 2);
        mg_swar_byte_products(found, x + 4, y + 4);
        mg_swar_byte_products(found, x + 6, y + 6);
    }
    for (uint32_t k = quads; k < n; k += 1u) {
        mg_swar_byte_products(found, u + 2u * k, v + 2u * k);
    }
    sums[0] = found[0];
    sums[1] = found[1];
    sums[2] = found[2];
    sums[3] = found[3];
}

#endif

#endif /* MCUGEN_SWAR_BYTES_H */
