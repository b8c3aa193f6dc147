/* SPDX-License-Identifier: Apache-2.0 */
/* Two models in the memory of the larger one: a picture is told by its shape, a small one by its digit.
 *
 * Jobs come as they would from a driver: 'S' and the pixels of a picture for the shapes, 'D' and those of a digit. For
 * each job one line of text: the answer, and all scores. */
#include "io.h"
#include "reader.h"

static const char *const names[SHAPES_OUTPUT_LEN] = {"nothing", "disc", "square", "triangle"};

static reader_t arena; /* of both models, which never run at the same time */

static void report(const int8_t *scores, int length, const char *const *words)
{
    int best = 0;
    for (int i = 1; i < length; i += 1) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    if (words != NULL) {
        io_print(words[best]);
    } else {
        io_print("digit");
        io_print_number(best);
    }
    for (int i = 0; i < length; i += 1) {
        io_print_number(scores[i]);
    }
    io_print("\n");
}

/* Each job writes its model's whole input, runs it, and reads its output before the next may begin. */
static bool tell_shape(void)
{
    int8_t *const pixels = shapes_input(&arena.shapes);
    if (!io_read(pixels, SHAPES_INPUT_SIZE)) {
        return false;
    }
    shapes_run(&arena.shapes);
    report(shapes_output(&arena.shapes), SHAPES_OUTPUT_LEN, names);
    return true;
}

static bool tell_digit(void)
{
    int8_t *const pixels = digits_input(&arena.digits);
    if (!io_read(pixels, DIGITS_INPUT_SIZE)) {
        return false;
    }
    digits_run(&arena.digits);
    report(digits_output(&arena.digits), DIGITS_OUTPUT_LEN, NULL);
    return true;
}

int main(void)
{
    uint8_t job;
    while (io_read(&job, 1u)) {
        if (!(job == (uint8_t)'S' ? tell_shape() : tell_digit())) {
            return 1;
        }
    }
    return 0;
}
