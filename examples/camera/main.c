/* SPDX-License-Identifier: Apache-2.0 */
/* Tells shapes in the picture of a line camera. No picture is ever stored: each line goes into the model as it comes.
 *
 * The camera is simulated by a stream of events, as its driver would see them: 'V' vertical sync, a picture begins;
 * 'L' and the pixels of one line. For each picture that is complete, one line of text: the shape, and all scores. */
#include "io.h"
#include "shapes.h"

#define LINE_PIXELS SHAPES_INPUT_ROW_LEN

static const char *const names[SHAPES_OUTPUT_LEN] = {"nothing", "disc", "square", "triangle"};

static shapes_t model;

/* The camera's DMA fills one while the task below reads the other. */
static uint8_t lines[2][LINE_PIXELS];

static void report(void)
{
    const int8_t *const scores = shapes_output(&model);
    int best = 0;
    for (int i = 1; i < SHAPES_OUTPUT_LEN; i += 1) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    io_print(names[best]);
    for (int i = 0; i < SHAPES_OUTPUT_LEN; i += 1) {
        io_print_number(scores[i]);
    }
    io_print("\n");
}

/* In the task that the end-of-line interrupt wakes, not in the interrupt itself. */
static void on_line(const uint8_t *pixels)
{
    int8_t row[LINE_PIXELS];
    for (int x = 0; x < LINE_PIXELS; x += 1) {
        row[x] = (int8_t)(pixels[x] - 128); /* scale 1/255, zero point -128: a pixel less 128 */
    }
    if (shapes_push_row(&model, row)) {
        report();
    }
}

int main(void)
{
    uint8_t event;
    uint32_t filling = 0u;
    shapes_reset(&model);
    while (io_read(&event, 1u)) {
        if (event == (uint8_t)'V') {
            shapes_reset(&model); /* drops a picture that lost lines */
        } else if (io_read(lines[filling], sizeof lines[filling])) {
            const uint8_t *const full = lines[filling];
            filling = 1u - filling; /* here DMA goes on with the other line */
            on_line(full);
        }
    }
    return 0;
}
