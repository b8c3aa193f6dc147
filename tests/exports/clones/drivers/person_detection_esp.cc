// SPDX-License-Identifier: Apache-2.0
// Gives the firmware an image that begins dark and ends bright.
#include "esp_main.h"
#include "main_functions.h"

static unsigned char image[96 * 96];

int main()
{
    for (int i = 0; i < 96 * 96; i += 1) {
        image[i] = static_cast<unsigned char>(i / 36);
    }
    setup();
    run_inference(image);
}
