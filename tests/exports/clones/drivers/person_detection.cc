// SPDX-License-Identifier: Apache-2.0
// Shows the firmware of TensorFlow Lite Micro's person detection both of its images.
#include <cstring>

#include "tensorflow/lite/micro/examples/person_detection/image_provider.h"
#include "tensorflow/lite/micro/examples/person_detection/main_functions.h"
#include "tensorflow/lite/micro/examples/person_detection/testdata/no_person_image_data.h"
#include "tensorflow/lite/micro/examples/person_detection/testdata/person_image_data.h"

static const unsigned char *shown = g_person_image_data;

TfLiteStatus GetImage(int width, int height, int channels, int8_t *image)
{
    std::memcpy(image, shown, static_cast<size_t>(width * height * channels));
    return kTfLiteOk;
}

int main()
{
    setup();
    loop();
    shown = g_no_person_image_data;
    loop();
}
