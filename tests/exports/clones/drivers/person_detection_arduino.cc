// SPDX-License-Identifier: Apache-2.0
// Gives the sketch an image that begins dark and ends bright, and prints its scores.
#include <cstdio>

#include "detection_responder.h"
#include "image_provider.h"
#include "main_functions.h"

TfLiteStatus GetImage(const TfLiteTensor *tensor)
{
    for (int i = 0; i < 96 * 96; i += 1) {
        tensor->data.int8[i] = static_cast<int8_t>(i / 36 - 128);
    }
    return kTfLiteOk;
}

void RespondToDetection(float person, float no_person)
{
    std::printf("person: %.4f %.4f\n", static_cast<double>(person), static_cast<double>(no_person));
}

int main()
{
    setup();
    loop();
}
