// SPDX-License-Identifier: Apache-2.0
// Runs a firmware for 40 rounds of a sine, and counts the results that are near it.
#include <cmath>
#include <cstdio>

#include "main_functions.h"
#include "output_handler.h"

static int near, handled;

void HandleOutput(float x, float y)
{
    handled += 1;
    near += std::fabs(std::sin(x) - y) < 0.15f ? 1 : 0;
}

int main()
{
    setup();
    for (int round = 0; round < 40; round += 1) {
        loop();
    }
    std::printf("handled %d, near %d\n", handled, near);
}
