/* SPDX-License-Identifier: Apache-2.0 */
/* Hears tones that rise or fall. Each frame of features goes into the model as it comes, and only its work is done.
 *
 * The source is simulated by a stream of events, as the audio driver would see them: 'F' and the features of one frame;
 * 'G' a gap, where sound was lost. For each frame from a window's last on, one line of text: what is heard, and all
 * scores. */
#include "io.h"
#include "sweeps.h"

#define BANDS SWEEPS_INPUT_FRAME_LEN
#define RING_FRAMES 4u /* what may wait while the task is busy; a power of two */

static const char *const names[SWEEPS_OUTPUT_LEN] = {"nothing", "rising", "falling"};

static sweeps_t model;

/* Frames from the audio interrupt to the task: the interrupt alone moves `written`, the task alone `taken`. */
static int8_t ring[RING_FRAMES][BANDS];
static volatile uint32_t written, taken;

static void report(void)
{
    const int8_t *const scores = sweeps_output(&model);
    int best = 0;
    for (int i = 1; i < SWEEPS_OUTPUT_LEN; i += 1) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    io_print(names[best]);
    for (int i = 0; i < SWEEPS_OUTPUT_LEN; i += 1) {
        io_print_number(scores[i]);
    }
    io_print("\n");
}

/* The task: all frames that wait. */
static void drain(void)
{
    while (taken != written) {
        const bool is_whole_window = sweeps_push_frame(&model, ring[taken % RING_FRAMES]);
        taken = taken + 1u;
        if (is_whole_window) {
            report();
        }
    }
}

int main(void)
{
    uint8_t event;
    sweeps_reset(&model);
    while (io_read(&event, 1u)) {
        if (event == (uint8_t)'G') {
            drain();
            sweeps_reset(&model); /* what comes next does not follow what came before */
        } else if (io_read(ring[written % RING_FRAMES], BANDS)) {
            written = written + 1u;
            if (written - taken == RING_FRAMES) {
                drain();
            }
        }
    }
    drain();
    return 0;
}
