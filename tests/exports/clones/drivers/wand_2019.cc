// SPDX-License-Identifier: Apache-2.0
// Runs the wand of 2019 at rest, and counts the gestures that it sees.
#include <cstdio>

#include "main_functions.h"
#include "output_handler.h"

static int results, gestures;

void HandleOutput(tflite::ErrorReporter *, int kind)
{
    results += 1;
    gestures += kind < 3 ? 1 : 0;
}

int main()
{
    setup();
    for (int round = 0; round < 200; round += 1) {
        loop();
    }
    std::printf("results %d, gestures %d\n", results, gestures);
}
