/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what an accelerometer goes through. Each sample goes into the model as it comes, features included.
 *
 * The sensor is simulated by a stream of events, as its driver would see them: 'S' and the counts of three axes; 'G' a
 * gap, where samples were lost. For each window, one line of text: the motion, and all scores. */
#include "io.h"
#include "motions.h"

#define AXES 3u

static const char *const names[MOTIONS_OUTPUT_LEN] = {"resting", "walking", "running", "shaking"};

static motions_t model; /* zeroed: the first push resets it */

static void report(void)
{
    const int8_t *const scores = motions_output(&model);
    int best = 0;
    for (int i = 1; i < MOTIONS_OUTPUT_LEN; i += 1) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    io_print(names[best]);
    for (int i = 0; i < MOTIONS_OUTPUT_LEN; i += 1) {
        io_print_number(scores[i]);
    }
    io_print("\n");
}

int main(void)
{
    uint8_t event;
    while (io_read(&event, 1u)) {
        int16_t sample[AXES];
        if (event == (uint8_t)'G') {
            motions_reset(&model); /* what comes next does not follow what came before */
        } else if (io_read(sample, sizeof sample) && motions_push(&model, sample, AXES) > 0u) {
            report();
        }
    }
    return motions_lost(&model) > 0u;
}
