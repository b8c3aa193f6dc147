/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of each channel of windows of float samples, as WindowStatistics defines them. Each operation rounds.
 *
 * statistics  codes of the wanted statistics: 0 mean, 1 rms, 2 absolute, 3 min, 4 max, 5 range, 6 zero-crossings,
 *             7 variance, 8 std, 9 mad, 10 mean-crossings, 11 skewness, 12 kurtosis
 * about_mean  1 if any code is above 6; powers: 1 if any code is above 10
 */
/* Copies of this file, one a line, with these words replaced:
 * f32 -> s16, float samples -> int16 samples
 */
#ifndef MCUGEN_WINDOW_STATISTICS_F32_H
#define MCUGEN_WINDOW_STATISTICS_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t length, channels, outer; /* numbers of samples of a window, of channels, of windows */
    uint32_t count;                   /* number of statistics of a channel */
    const uint8_t *statistics;        /* [count] */
    uint8_t about_mean, powers;
} mg_window_statistics_f32_params;

/* in [outer][length][channels]; out [outer][channels][count], of float. */
void mg_window_statistics_f32(const mg_window_statistics_f32_params *p, const mg_f32 *in, float *out);

#endif /* MCUGEN_WINDOW_STATISTICS_F32_H */
