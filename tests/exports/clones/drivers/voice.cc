// SPDX-License-Identifier: Apache-2.0
// The same for the voice assistant, whose models load themselves.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "streaming_model.h"

extern const uint8_t okay_nabu[];

struct Opened : esphome::micro_wake_word::StreamingModel {
    Opened()
    {
        this->model_start_ = okay_nabu;
        this->sliding_window_size_ = 4;
        this->recent_streaming_probabilities_.resize(4, 0);
        this->tensor_arena_size_ = 22860;
    }
    void log_model_config() override {}
    esphome::micro_wake_word::DetectionEvent determine_detected() override
    {
        return {};
    }
    int newest() const
    {
        return this->recent_streaming_probabilities_[this->last_n_index_];
    }
    void unload()
    {
        this->unload_model();
    }
    size_t used() const
    {
        return this->interpreter_->arena_used_bytes();
    }
};

using esphome::micro_wake_word::PREPROCESSOR_FEATURE_SIZE;

int main()
{
    Opened model;
    std::printf("probabilities");
    for (int window = 0; window < 6; window += 1) {
        for (int row = 0; row < 3; row += 1) {
            int8_t features[PREPROCESSOR_FEATURE_SIZE];
            for (int i = 0; i < PREPROCESSOR_FEATURE_SIZE; i += 1) {
                features[i] = static_cast<int8_t>(((window * 3 + row) * 40 + i) * 37 % 256 - 128);
            }
            model.perform_streaming_inference(features);
        }
        std::printf(" %d", model.newest());
    }
    std::printf("\nused %d\n", static_cast<int>(model.used()));
    model.unload();
}
