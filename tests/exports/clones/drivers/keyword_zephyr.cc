// SPDX-License-Identifier: Apache-2.0
// Runs a keyword detection on a ramp.
#include "tflm_functions.h"

int main()
{
    static float features[125][13];
    for (int i = 0; i < 125 * 13; i += 1) {
        features[i / 13][i % 13] = static_cast<float>(i % 101) * 0.25f;
    }
    perform_inference(features);
}
