/* SPDX-License-Identifier: Apache-2.0 */
/* Hears ten words in a stream of samples.
 *
 * The microphone is simulated by a stream of events, as the audio driver would see them: 'S' and a block of samples; 'G' a
 * gap, where sound was lost. For each decision that differs from the one before, one line of text: milliseconds heard
 * since the gap, and the word. */
#include "io.h"
#include "words.h"

#define BLOCK 160u /* samples that the driver hands over: 10 ms */

static const char *const names[] = {"yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go", "unknown"};

static words_t model;

int main(void)
{
    static int16_t block[BLOCK]; /* on a board: the half of a buffer that DMA does not fill now */
    uint8_t event;
    int32_t heard = 0, before = -1;
    while (io_read(&event, 1u)) {
        if (event == (uint8_t)'G') {
            words_reset(&model); /* what comes next does not follow what came before */
            heard = 0;
            before = -1;
        } else if (io_read(block, sizeof block)) {
            heard += (int32_t)BLOCK;
            if (words_push(&model, block, BLOCK) > 0u && words_output(&model)[0] != before) {
                before = words_output(&model)[0];
                io_print_number(heard * 1000 / WORDS_RATE);
                io_print(" ");
                io_print(names[before]);
                io_print("\n");
            }
        }
    }
    return words_lost(&model) > 0u;
}
