/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the sets of vector operations that this processor has with the set in plain C, on random layers, and times
 * them. Prints a line per set: its name, the layers that differ, and multiply-accumulates per nanosecond.
 *
 * usage: simd_sets LAYERS SEED TIMES: the runs that are timed
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__aarch64__)
#include "mcugen/simd_dense_s8_dotprod.c"
#else
#include "mcugen/simd_dense_s8_vnni.c"
#endif

enum { ROWS = 3, ROW = 4096, CHANNELS = 80, TAPS = 1024, PIXELS = 32 };

typedef void (*dense)(const mg_simd_dense *p, const uint8_t *const *rows, uint32_t pixels, int8_t *out);

static uint64_t state;
static uint8_t data[ROWS][ROW];
static int8_t weights[CHANNELS * TAPS], expected[PIXELS * CHANNELS], found[PIXELS * CHANNELS];
static int32_t bias[CHANNELS], mult[CHANNELS];
static uint8_t right[CHANNELS];

static uint32_t drawn(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static uint32_t fill(mg_simd_dense *p)
{
    const uint32_t tiles = 1u + drawn(4u), groups = 1u + drawn(24u);
    const int32_t low = (int32_t)drawn(100u) - 128;
    *p = (mg_simd_dense){weights, {bias, mult, right, (int16_t)((int32_t)drawn(256u) - 128), (int16_t)low,
                                  (int16_t)(low + (int32_t)drawn(128u)), (uint8_t)drawn(2u)},
                        1u + drawn(3u), 1u + drawn(3u), drawn(200u), groups, drawn(100u), tiles,
                        tiles * MG_SIMD_LANES - drawn(MG_SIMD_LANES)};
    for (uint32_t i = 0u; i < sizeof(weights); i += 1u) {
        weights[i] = (int8_t)((int32_t)drawn(255u) - 127);
    }
    for (uint32_t i = 0u; i < sizeof(data); i += 1u) {
        data[i / ROW][i % ROW] = (uint8_t)drawn(256u);
    }
    for (uint32_t c = 0u; c < CHANNELS; c += 1u) {
        bias[c] = (int32_t)(drawn(2000001u)) - 1000000;
        mult[c] = (int32_t)(drawn(1u << 30) + (1u << 30));
        right[c] = (uint8_t)(1u + drawn(drawn(8u) == 0u ? 31u : 16u));
    }
    return 1u + drawn(PIXELS);
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Multiply-accumulates per nanosecond of a layer of 576 taps and 64 channels, the best of several runs. */
static double speed(dense set, const uint8_t *const *rows, uint32_t times)
{
    const mg_simd_dense p = {weights, {bias, mult, right, 0, -128, 127, 0}, 3u, 1u, 0u, 48u, 64u, 4u, 64u};
    double best = 1.0;
    for (uint32_t k = 0u; k < times; k += 1u) {
        const double start = seconds();
        set(&p, rows, 8u, found);
        const double took = seconds() - start;
        best = took < best ? took : best;
    }
    return 576.0 * 64.0 * 8.0 / best * 1e-9;
}

static int check(const char *name, dense set, uint32_t layers, uint64_t seed, uint32_t times)
{
    const uint8_t *const rows[ROWS] = {data[0], data[1], data[2]};
    uint32_t wrong = 0u;
    state = seed;
    for (uint32_t k = 0u; k < layers; k += 1u) {
        mg_simd_dense p;
        const uint32_t pixels = fill(&p);
        (void)memset(expected, 0, sizeof(expected));
        (void)memset(found, 0, sizeof(found));
        mg_plain_dense_s8(&p, rows, pixels, expected);
        set(&p, rows, pixels, found);
        wrong += memcmp(expected, found, sizeof(found)) != 0 ? 1u : 0u;
    }
    (void)printf("%s: %u of %u layers differ, %.1f MAC/ns\n", name, wrong, layers, speed(set, rows, times));
    return wrong != 0u;
}

int main(int count, char **given)
{
    const uint32_t layers = count > 1 ? (uint32_t)strtoul(given[1], NULL, 10) : 100u;
    const uint64_t seed = count > 2 ? strtoull(given[2], NULL, 10) : 1u;
    const uint32_t times = count > 3 ? (uint32_t)strtoul(given[3], NULL, 10) : 200u;
    int wrong = check("plain", mg_plain_dense_s8, layers, seed, times);
#if MG_HAS_X86
    if (mg_simd_set() >= MG_SIMD_AVX2) {
        wrong |= check("avx2", mg_avx2_dense_s8, layers, seed, times);
    }
#if MG_SIMD_KNOWS_VNNI
    if (__builtin_cpu_supports("avxvnni")) {
        wrong |= check("vnni", mg_vnni_dense_s8, layers, seed, times);
    }
#endif
    if (mg_simd_set() >= MG_SIMD_VNNI512) {
        wrong |= check("vnni512", mg_vnni512_dense_s8, layers, seed, times);
    }
#elif MG_HAS_ARM
    wrong |= check("neon", mg_neon_dense_s8, layers, seed, times);
    if (mg_simd_set() >= MG_SIMD_DOTPROD) {
        wrong |= check("dotprod", mg_dotprod_dense_s8, layers, seed, times);
    }
#endif
    return wrong;
}
