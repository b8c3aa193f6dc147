// SPDX-License-Identifier: Apache-2.0
// What few applications use: tensors by index, views of indices, one variable alone, containers, braces for arguments.
#include "tensorflow/lite/builtin_op_data.h"
#include "tensorflow/lite/core/macros.h"
#include "tensorflow/lite/micro/all_ops_resolver.h"
#include "tensorflow/lite/micro/cortex_m_generic/debug_log_callback.h"
#include "tensorflow/lite/micro/hexdump.h"
#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_interpreter_context.h"
#include "tensorflow/lite/micro/micro_interpreter_graph.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/micro/span.h"
#include "tensorflow/lite/micro/static_vector.h"
#include "tensorflow/lite/schema/schema_generated.h"

#include "checks.h"
#include "expected.h"
#include "softmax_data.h"

extern const unsigned char g_digits_data[];
extern const unsigned int g_digits_data_len;
namespace networks {
extern const unsigned char g_states[];
}
void further_applications();

namespace {

tflite::AllOpsResolver resolver;
uint8_t arena[6000], other_arena[3000];
const TFLMRegistration *registration = tflite::Register_DETECTION_POSTPROCESS(); // both are global names
TfLiteRegistration older_registration = tflite::Register_CONV_2D();

bool computes(tflite::MicroInterpreter &interpreter)
{
    CHECK(interpreter.AllocateTensors() == kTfLiteOk);
    TfLiteEvalTensor *const input = interpreter.GetTensor(interpreter.inputs()[0]);
    TfLiteEvalTensor *const output = interpreter.GetTensor(interpreter.outputs().Get(0), 0);
    CHECK(input != nullptr && input->data.data == interpreter.input(0)->data.data && input->type == kTfLiteInt8);
    CHECK(output != nullptr && output->dims == interpreter.output(0)->dims && output != input);
    memcpy(input->data.int8, digits_in0, sizeof digits_in0);
    return interpreter.Invoke() == kTfLiteOk && memcmp(output->data.int8, digits_out0, sizeof digits_out0) == 0;
}

void tensors_by_index()
{
    tflite::MicroInterpreter interpreter(tflite::GetModel(g_digits_data), resolver, arena, sizeof arena);
    forget();
    CHECK(interpreter.GetTensor(0) == nullptr && strstr(said, "tensor 0 of subgraph 0") != nullptr);
    CHECK(computes(interpreter));
    CHECK(interpreter.GetTensor(0, 1) == nullptr && interpreter.GetTensor(-1) == nullptr);
    forget();
    CHECK(interpreter.GetTensor(1) == nullptr);
    CHECK(strstr(said, "tensor 1 of subgraph 0 is no input or output of an allocated model: its values are not kept") != nullptr);
    tflite::MicroInterpreter floats(tflite::GetModel(softmax_data), resolver, arena, sizeof arena);
    unsigned count = 0u;
    for (int32_t index : floats.inputs()) {
        CHECK(index == floats.inputs().data()[count]);
        count += 1u;
    }
    CHECK(count == 6u && floats.inputs().end() - floats.inputs().begin() == 6 && floats.outputs().size() > 2u);
    CHECK(floats.outputs().data() == floats.inputs().end() && floats.inputs()[1] != floats.inputs()[0]);
    tflite::MicroInterpreter foreign(tflite::GetModel(nullptr), resolver, arena, sizeof arena);
    CHECK(foreign.inputs().begin() == foreign.inputs().end() && foreign.GetTensor(0) == nullptr);
}

void one_variable()
{
    tflite::MicroInterpreter digits(tflite::GetModel(g_digits_data), resolver, arena, sizeof arena);
    CHECK(digits.ResetVariableTensor(3) == kTfLiteOk && digits.ResetVariableTensor(3, 0) == kTfLiteOk);
    tflite::MicroInterpreter several(tflite::GetModel(networks::g_states), resolver, arena, sizeof arena);
    forget();
    CHECK(several.ResetVariableTensor(1) == kTfLiteError && strstr(said, "tensor 1 of subgraph 0 cannot be reset alone") != nullptr);
    tflite::Model with_one = *tflite::GetModel(networks::g_states); // as of a file with a variable tensor
    with_one.variable = 4u;
    tflite::MicroInterpreter kept(&with_one, resolver, arena, sizeof arena);
    const size_t bytes = sizeof states_in0 / states_steps;
    CHECK(kept.AllocateTensors() == kTfLiteOk);
    for (int k = 0; k < 2; k += 1) {
        memcpy(kept.input(0)->data.data, states_in0, bytes);
        CHECK(kept.Invoke() == kTfLiteOk && memcmp(kept.output(0)->data.data, states_out0, bytes) == 0);
        forget();
        CHECK(kept.ResetVariableTensor(1, 1) == kTfLiteError && strstr(said, "tensor 1 of subgraph 1 cannot be reset alone") != nullptr);
        CHECK(kept.ResetVariableTensor(3) == kTfLiteError && kept.ResetVariableTensor(4) == kTfLiteOk);
    }
}

void braces()
{
    const tflite::Model *const model = tflite::GetModel(g_digits_data);
    tflite::MicroProfiler profiler;
    tflite::MicroInterpreter first(model, resolver, arena, sizeof arena, {});
    CHECK(computes(first));
    tflite::MicroInterpreter second(model, resolver, arena, sizeof arena, {}, &profiler);
    CHECK(computes(second) && profiler.GetTotalTicks() > 0u);
    profiler.ClearEvents();
    tflite::MicroInterpreter third(model, resolver, arena, sizeof arena, {}, {}, &profiler); // a reporter comes first
    CHECK(computes(third) && profiler.GetTotalTicks() > 0u);
    tflite::MicroAllocator *const allocator = tflite::MicroAllocator::Create(arena, sizeof arena);
    profiler.ClearEvents();
    tflite::MicroInterpreter fourth(model, resolver, allocator, {}, &profiler);
    CHECK(computes(fourth) && profiler.GetTotalTicks() > 0u);
}

void all_tensors_kept()
{
    const tflite::Model *const model = tflite::GetModel(g_digits_data);
    forget();
    tflite::MicroInterpreter none(model, resolver, arena, sizeof arena, nullptr, nullptr, false);
    CHECK(said[0] == '\0');
    tflite::MicroInterpreter all(model, resolver, arena, sizeof arena, nullptr, nullptr, true);
    CHECK(strstr(said, "preserve_all_tensors is not supported") != nullptr && !all.preserve_all_tensors());
    CHECK(computes(all));
    forget();
    tflite::MicroInterpreter braced(model, resolver, arena, sizeof arena, {}, {}, true);
    CHECK(strstr(said, "preserve_all_tensors is not supported") != nullptr);
}

/* The number that stands behind a text in what was said; 0 for none. */
unsigned number_behind(const char *text)
{
    const char *digit = strstr(said, text);
    unsigned number = 0u;
    for (digit = digit != nullptr ? digit + strlen(text) : ""; *digit >= '0' && *digit <= '9'; digit += 1) {
        number = number * 10u + static_cast<unsigned>(*digit - '0');
    }
    return number;
}

/* Each sentence on an arena names one whose size is too small, and a size that suffices. */
void two_arenas()
{
    const tflite::Model *const model = tflite::GetModel(g_digits_data);
    tflite::GreedyMemoryPlanner planner;
    tflite::MicroAllocator *small = tflite::MicroAllocator::Create(other_arena, sizeof other_arena, arena, 500u, &planner);
    tflite::MicroInterpreter refused(model, resolver, small);
    forget();
    CHECK(refused.AllocateTensors() == kTfLiteError);
    CHECK(strstr(said, "digits: the second tensor arena has 500 bytes and needs ") != nullptr);
    const unsigned needs = number_behind("bytes and needs ");
    CHECK(needs > 500u && needs < sizeof arena);
    tflite::MicroInterpreter suffices(model, resolver, tflite::MicroAllocator::Create(other_arena, sizeof other_arena, arena + 1, needs));
    CHECK(computes(suffices));
    tflite::MicroInterpreter cramped(model, resolver, tflite::MicroAllocator::Create(other_arena, 100u, arena, 16u));
    forget();
    CHECK(cramped.AllocateTensors() == kTfLiteError && strstr(said, "digits: the tensor arena has 100 bytes") != nullptr);
    CHECK(number_behind("bytes and needs ") > 100u);
    tflite::MicroAllocator *const both = tflite::MicroAllocator::Create(other_arena, sizeof other_arena, arena, sizeof arena);
    CHECK(both->bytes() == sizeof other_arena + sizeof arena);
}

/* Firmware that copies the array by its length, as from slow flash, has a copy of the record. */
void copied_by_length()
{
    alignas(16) static uint8_t copy[200];
    CHECK(g_digits_data_len >= 8u && g_digits_data_len <= sizeof copy);
    memcpy(copy, g_digits_data, g_digits_data_len);
    const tflite::Model *const model = tflite::GetModel(copy);
    CHECK(model->version() == TFLITE_SCHEMA_VERSION);
    tflite::MicroInterpreter interpreter(model, resolver, arena, sizeof arena);
    CHECK(computes(interpreter));
}

void containers()
{
    const uint8_t bytes[18] = { 0x41, 0x42, 0x0A, 0xFF };
    tflite::Span<const uint8_t> region(bytes);
    CHECK(region.size() == 18u && region[1] == 0x42u && region == tflite::Span<const uint8_t>(bytes, 18u));
    CHECK(region != tflite::Span<const uint8_t>(bytes, 17u));
    char text[200];
    const tflite::Span<char> dump = tflite::hexdump(region, tflite::Span<char>(text));
    const char *const first = "00000000: 41 42 0A FF 00 00 00 00 00 00 00 00 00 00 00 00 AB..............\n00000010: 00 00";
    CHECK(dump.size() > strlen(first) && memcmp(dump.data(), first, strlen(first)) == 0);
    CHECK(tflite::hexdump(region, tflite::Span<char>(text, 5u)).size() == 5u);
    forget();
    tflite::hexdump(region);
    CHECK(strstr(said, "00000010: 00 00") != nullptr);
    tflite::StaticVector<int, 3> some{ 7, 8 }, others;
    CHECK(some.size() == 2u && !some.full() && some.max_size() == 3u && some[1] == 8 && some != others);
    others.push_back(7);
    others.push_back(8);
    CHECK(some == others && *(others.end() - 1) == 8);
    others.clear();
    CHECK(others.size() == 0u && TFLITE_EXPECT_TRUE(true) && registration == nullptr && older_registration.invoke == nullptr);
    RegisterDebugLogCallback(nullptr);
}

} // namespace

void further_applications()
{
    tensors_by_index();
    one_variable();
    braces();
    all_tensors_kept();
    two_arenas();
    copied_by_length();
    containers();
}
