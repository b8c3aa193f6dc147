// SPDX-License-Identifier: Apache-2.0
// Runs the sketch of the magic wand until it has seen the movement of the stub of its sensor.
#include "Arduino.h"

int main()
{
    setup();
    for (int round = 0; round < 2000; round += 1) {
        loop();
    }
}
