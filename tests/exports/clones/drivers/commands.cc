// SPDX-License-Identifier: Apache-2.0
// Runs a network for spoken commands on a ramp, and prints its scores.
#include <cstdio>

#include "NeuralNetwork.h"
#include "tensorflow/lite/micro/all_ops_resolver.h"
#include "tensorflow/lite/micro/micro_interpreter.h"

int main()
{
    static NeuralNetwork network;
    for (int i = 0; i < 99 * 43; i += 1) {
        network.getInputBuffer()[i] = static_cast<float>(i % 101) * 0.02f - 1.0f;
    }
    network.predict();
    std::printf("scores");
    for (int i = 0; i < NUMBER_OF_COMMANDS; i += 1) {
        std::printf(" %.4f", static_cast<double>(network.getOutputBuffer()[i]));
    }
    std::printf("\n");
}
