/* SPDX-License-Identifier: Apache-2.0 */
/* Tells shapes in front of a colour camera of 160x120 pixels. Each line of RGB565 goes into the model as it comes: the
 * model crops it, makes it grey, resizes it, and decides over the last pictures. No picture is ever stored.
 *
 * The camera is simulated by a stream of events, as its driver would see them: 'V' vertical sync, a picture begins;
 * 'L' and the bytes of one line. For each picture that is complete, one line of text: the decision. */
#include "io.h"
#include "qqvga.h"

#define LINE_BYTES QQVGA_INPUT_ROW_LEN

static const char *const names[] = {"nothing", "disc", "square", "triangle", "unknown"};

static qqvga_t model; /* zeroed: the first line resets it */

/* The camera's DMA fills one while the task below reads the other. */
static uint8_t lines[2][LINE_BYTES];
static uint32_t seen; /* lines of this picture */

/* In the task that the end-of-line interrupt wakes, not in the interrupt itself. */
static void on_line(const uint8_t *bytes)
{
    seen += 1u;
    if (qqvga_push_row(&model, bytes)) {
        seen = 0u;
        io_print(names[*qqvga_output(&model)]);
        io_print("\n");
    }
}

int main(void)
{
    uint8_t event;
    uint32_t filling = 0u;
    while (io_read(&event, 1u)) {
        if (event == (uint8_t)'V') {
            if (seen != 0u) {
                qqvga_reset(&model); /* drops a picture that lost lines, and the pictures before it */
                seen = 0u;
            }
        } else if (io_read(lines[filling], LINE_BYTES)) {
            const uint8_t *const full = lines[filling];
            filling = 1u - filling; /* here DMA goes on with the other line */
            on_line(full);
        }
    }
    return 0;
}
