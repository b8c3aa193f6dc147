// SPDX-License-Identifier: Apache-2.0
// Computes the features of 30 ms of sound.
#include <cstdio>

#include "micro_features_generator.h"
#include "yes_30ms_audio_data.h"

static Features features;

int main()
{
    const TfLiteStatus begun = InitializeMicroFeatures();
    const TfLiteStatus done = GenerateFeatures(g_yes_30ms_audio_data, g_yes_30ms_audio_data_size, &features);
    std::printf("status %d %d, features:", begun, done);
    for (int value : features[0]) {
        std::printf(" %d", value);
    }
    std::printf("\n");
}
