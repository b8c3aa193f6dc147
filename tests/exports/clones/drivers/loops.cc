// SPDX-License-Identifier: Apache-2.0
// Runs a firmware for 40 rounds.
#include "main_functions.h"

int main()
{
    setup();
    for (int round = 0; round < 40; round += 1) {
        loop();
    }
}
