/* SPDX-License-Identifier: Apache-2.0 */
/* Six windows of noise in TFLM's library of the front end, with the settings of micro_speech, and then one transform.
 * Each is counted as an inference. */
#include <stdint.h>

#include "tensorflow/lite/experimental/microfrontend/lib/bits.h"
#include "tensorflow/lite/experimental/microfrontend/lib/frontend.h"
#include "tensorflow/lite/experimental/microfrontend/lib/frontend_util.h"

#define WINDOWS 6
#define LENGTH (480 + (WINDOWS - 1) * 320)

/* Stubs of the system calls that the C library links. Only memory is needed. */
char __exidx_start, __exidx_end;

void *_sbrk(int n)
{
    static uint64_t memory[2048];
    static size_t used;
    used += (size_t)n;
    return used <= sizeof memory ? (char *)memory + used - n : (void *)-1;
}

void _exit(int code)
{
    (void)code;
    for (;;) {
    }
}

int _kill(void) { return -1; }
int _getpid(void) { return -1; }
int _write(void) { return -1; }
int _close(void) { return -1; }
int _fstat(void) { return -1; }
int _isatty(void) { return -1; }
int _lseek(void) { return -1; }
int _read(void) { return -1; }

static struct FrontendState state;
static int16_t sound[LENGTH];

static int is_prepared(void)
{
    struct FrontendConfig c;
    uint32_t seed = 1u;
    FrontendFillConfigWithDefaults(&c);
    c.window.size_ms = 30;
    c.window.step_size_ms = 20;
    c.filterbank.num_channels = 40;
    c.filterbank.lower_band_limit = 125.0f;
    c.filterbank.upper_band_limit = 7500.0f;
    c.noise_reduction.smoothing_bits = 10;
    c.noise_reduction.even_smoothing = 0.025f;
    c.noise_reduction.odd_smoothing = 0.06f;
    c.noise_reduction.min_signal_remaining = 0.05f;
    c.pcan_gain_control.enable_pcan = 1;
    c.pcan_gain_control.strength = 0.95f;
    c.pcan_gain_control.offset = 80.0f;
    c.pcan_gain_control.gain_bits = 21;
    c.log_scale.enable_log = 1;
    c.log_scale.scale_shift = 6;
    for (int i = 0; i < LENGTH; i += 1) {
        seed = seed * 1664525u + 1013904223u;
        sound[i] = (int16_t)(seed >> 16);
    }
    return FrontendPopulateState(&c, &state, 16000);
}

int main(void)
{
    const int16_t *at = sound;
    size_t left = LENGTH, read = 0;
    int windows = 0, shift;
    if (!is_prepared()) {
        return 1;
    }
    while (left > 0) {
        struct FrontendOutput out;
        SIM_BEGIN();
        out = FrontendProcessSamples(&state, at, left, &read);
        SIM_END();
        at += read;
        left -= read;
        windows += out.size == 40;
    }
    shift = 15 - (int)MostSignificantBit32((uint32_t)state.window.max_abs_output_value);
    SIM_BEGIN();
    FftCompute(&state.fft, state.window.output, shift);
    SIM_END();
    return windows != WINDOWS;
}
