/* SPDX-License-Identifier: Apache-2.0 */
/* Hears the word "computer" in a stream of samples.
 *
 * The microphone is simulated by a stream of events, as the audio driver would see them: 'S' and a block of samples; 'G' a
 * gap, where sound was lost. For each detection, one line of text: milliseconds heard since the gap, the probability. */
#include "computer.h"
#include "io.h"

#define BLOCK 160u /* samples that the driver hands over: 10 ms */

static computer_t model;

int main(void)
{
    static int16_t block[BLOCK]; /* on a board: the half of a buffer that DMA does not fill now */
    uint8_t event;
    int32_t heard = 0;
    while (io_read(&event, 1u)) {
        if (event == (uint8_t)'G') {
            computer_reset(&model); /* what comes next does not follow what came before */
            heard = 0;
        } else if (io_read(block, sizeof block)) {
            heard += (int32_t)BLOCK;
            if (computer_push(&model, block, BLOCK) > 0u && computer_output_1(&model)[0] != 0u) {
                io_print("computer");
                io_print_number(heard * 1000 / COMPUTER_RATE);
                io_print_number(computer_output_0(&model)[0]);
                io_print("\n");
            }
        }
    }
    return computer_lost(&model) > 0u;
}
