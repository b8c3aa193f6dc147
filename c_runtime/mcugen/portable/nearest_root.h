/* SPDX-License-Identifier: Apache-2.0
 *
 * Square roots of integers, rounded to the nearest. Each is estimated, then corrected by the difference of x and its
 * square: root r is the nearest if -r < x - r^2 <= r. The estimate comes from the FPU, or from a table and one step of
 * Newton's method.
 */
#ifndef MCUGEN_NEAREST_ROOT_H
#define MCUGEN_NEAREST_ROOT_H

#include "mcugen/bits.h"

/* Corrects `root`, an estimate of the root of x that is off by at most 4. rest: x - root^2. */
static MCUGEN_INLINE uint32_t mg_corrected_root(uint32_t root, int32_t rest)
{
    uint32_t nearest = root;
    int32_t left = rest;
    for (uint32_t k = 0u; k < 4u; k += 1u) {
        if (left > (int32_t)nearest) {
            left -= (int32_t)(2u * nearest + 1u);
            nearest += 1u;
        } else if (left <= -(int32_t)nearest && nearest != 0u) {
            left += (int32_t)(2u * nearest - 1u);
            nearest -= 1u;
        } else {
            break;
        }
    }
    return nearest;
}

#if defined(__arm__) && defined(__ARM_FP) && (__ARM_FP & 4) != 0 && !defined(MCUGEN_CHECK_TEXT)

/* The root of x, computed in float and rounded to an integer. */
static MCUGEN_INLINE uint32_t mg_float_root(float x)
{
    float root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x));
    return (uint32_t)(root + 0.5f);
}

/* The root of x, at most 65535. */
static MCUGEN_INLINE uint32_t mg_root_32(uint32_t x)
{
    uint32_t root = (uint32_t)mg_clamp((int32_t)mg_float_root((float)x), 0, 65535);
    const int32_t rest = (int32_t)(x - root * root);
    root += (uint32_t)(rest > (int32_t)root);
    root -= (uint32_t)(rest <= -(int32_t)root && root != 0u);
    return (uint32_t)mg_clamp((int32_t)root, 0, 65535);
}

/* The root of high * 2^32 + low, high < 2^16. */
static MCUGEN_INLINE uint32_t mg_root_48(uint32_t high, uint32_t low)
{
    const uint32_t root = mg_float_root((float)high * 4294967296.0f + (float)low);
    return mg_corrected_root(root, (int32_t)(low - root * root));
}

#else

/* For each high byte of a 32-bit number, from 64 on: its root, and 2^30 / root. */
static const uint16_t mg_roots[384] = {
    32896, 32640, 33150, 32390, 33402, 32146, 33652, 31907, 33900, 31674, 34147, 31445, 34392, 31221, 34635, 31002,
    34876, 30787, 35116, 30577, 35354, 30371, 35590, 30170, 35825, 29972, 36059, 29777, 36291, 29587, 36521, 29401,
    36750, 29217, 36978, 29037, 37204, 28861, 37429, 28687, 37652, 28518, 37874, 28350, 38095, 28186, 38315, 28024,
    38533, 27866, 38750, 27709, 38966, 27556, 39181, 27405, 39394, 27256, 39606, 27111, 39818, 26966, 40028, 26825,
    40237, 26685, 40445, 26548, 40652, 26413, 40857, 26280, 41062, 26149, 41266, 26020, 41469, 25893, 41671, 25767,
    41871, 25644, 42071, 25522, 42270, 25402, 42468, 25284, 42665, 25167, 42861, 25052, 43057, 24938, 43251, 24826,
    43445, 24715, 43637, 24606, 43829, 24498, 44020, 24392, 44210, 24287, 44400, 24183, 44588, 24081, 44776, 23980,
    44963, 23881, 45149, 23782, 45334, 23685, 45519, 23589, 45703, 23494, 45886, 23400, 46069, 23307, 46250, 23216,
    46431, 23126, 46612, 23036, 46791, 22948, 46970, 22860, 47149, 22773, 47326, 22688, 47503, 22604, 47679, 22520,
    47855, 22437, 48030, 22356, 48204, 22275, 48378, 22195, 48551, 22116, 48723, 22038, 48895, 21960, 49067, 21883,
    49237, 21808, 49407, 21733, 49577, 21658, 49746, 21584, 49914, 21512, 50082, 21440, 50249, 21368, 50416, 21298,
    50582, 21228, 50747, 21159, 50912, 21090, 51077, 21022, 51241, 20955, 51404, 20888, 51567, 20822, 51730, 20757,
    51892, 20692, 52053, 20628, 52214, 20564, 52374, 20501, 52534, 20439, 52694, 20377, 52853, 20316, 53011, 20255,
    53169, 20195, 53327, 20135, 53484, 20076, 53640, 20018, 53797, 19959, 53952, 19902, 54108, 19844, 54262, 19788,
    54417, 19732, 54571, 19676, 54724, 19621, 54877, 19566, 55030, 19512, 55182, 19458, 55334, 19405, 55485, 19352,
    55636, 19299, 55787, 19247, 55937, 19196, 56087, 19144, 56236, 19093, 56385, 19043, 56534, 18993, 56682, 18943,
    56830, 18894, 56977, 18845, 57124, 18797, 57271, 18748, 57417, 18701, 57563, 18653, 57709, 18606, 57854, 18560,
    57999, 18513, 58143, 18467, 58287, 18422, 58431, 18376, 58574, 18331, 58717, 18287, 58860, 18242, 59002, 18198,
    59144, 18155, 59286, 18111, 59427, 18068, 59568, 18025, 59709, 17983, 59849, 17941, 59989, 17899, 60129, 17857,
    60268, 17816, 60407, 17775, 60546, 17734, 60684, 17694, 60822, 17654, 60960, 17614, 61098, 17574, 61235, 17535,
    61372, 17496, 61508, 17457, 61644, 17418, 61780, 17380, 61916, 17342, 62051, 17304, 62186, 17267, 62321, 17229,
    62456, 17192, 62590, 17155, 62724, 17119, 62857, 17082, 62991, 17046, 63124, 17010, 63256, 16975, 63389, 16939,
    63521, 16904, 63653, 16869, 63785, 16834, 63916, 16799, 64047, 16765, 64178, 16731, 64309, 16697, 64439, 16663,
    64569, 16629, 64699, 16596, 64828, 16563, 64957, 16530, 65086, 16497, 65215, 16465, 65344, 16432, 65472, 16400,
};

/* An estimate of the root of x > 0. */
typedef struct {
    uint32_t root;
    uint32_t inverse; /* 2^30 / (root << shift), with 8 correct bits */
    uint32_t shift;   /* x << (2 * shift): its highest set bit is bit 30 or 31 */
} mg_root_estimate;

/* Estimates the root of x > 0; it is off by at most 1. */
static MCUGEN_INLINE mg_root_estimate mg_estimate_root(uint32_t x)
{
    const uint32_t shift = mg_zeros_above(x) >> 1;
    const uint32_t top = x << (2u * shift);
    const uint16_t *const entry = mg_roots + 2u * ((top >> 24) - 64u);
    const uint32_t first = entry[0], inverse = entry[1];
    const int32_t step = (((int32_t)(top - first * first) >> 9) * (int32_t)inverse) >> 22;
    const uint32_t root = (first + (uint32_t)step) >> shift;
    const mg_root_estimate found = {root < 65535u ? root : 65535u, inverse, shift};
    return found;
}

/* The root of x, at most 65535. */
static MCUGEN_INLINE uint32_t mg_root_32(uint32_t x)
{
    if (x == 0u) {
        return 0u;
    }
    const uint32_t root = mg_estimate_root(x).root;
    const int32_t rest = (int32_t)(x - root * root);
    if (rest <= -(int32_t)root) {
        return root - 1u;
    }
    return root + (uint32_t)(rest > (int32_t)root && root != 65535u);
}

/* The root of high * 2^32 + low, 0 < high < 2^16: the root of the upper 32 bits, then a second step for 8 more bits. */
static MCUGEN_INLINE uint32_t mg_root_48(uint32_t high, uint32_t low)
{
    const uint32_t upper = (high << 16) | (low >> 16);
    const mg_root_estimate found = mg_estimate_root(upper);
    const int32_t rest = (int32_t)(upper - found.root * found.root);
    const int32_t scaled = (int32_t)((((uint32_t)rest << 7) | ((low & 0xFFFFu) >> 9)) << found.shift) >> 9;
    const uint32_t root = (found.root << 8) + (uint32_t)((scaled * (int32_t)found.inverse + ((int32_t)1 << 20)) >> 21);
    return mg_corrected_root(root, (int32_t)(low - root * root));
}

#endif

/* The root of a number of 64 bits, bit by bit: the remainder decides the rounding. */
static inline uint32_t mg_root_64(uint64_t x)
{
    uint64_t left = x, root = 0u;
    for (uint32_t k = 0u; k < 32u; k += 1u) {
        const uint64_t bit = (uint64_t)1 << (62u - 2u * k);
        const uint64_t next = root >> 1;
        if (left >= root + bit) {
            left -= root + bit;
            root = next + bit;
        } else {
            root = next;
        }
    }
    return (uint32_t)(left > root && root != 0xFFFFFFFFu ? root + 1u : root);
}

/* The root of a number below 2^48; at most 65535 if it is below 2^32. */
static MCUGEN_INLINE uint32_t mg_nearest_root(uint64_t x)
{
    const uint32_t high = (uint32_t)(x >> 32), low = (uint32_t)x;
    return high != 0u ? mg_root_48(high, low) : mg_root_32(low);
}

#endif /* MCUGEN_NEAREST_ROOT_H */
