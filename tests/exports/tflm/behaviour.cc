// SPDX-License-Identifier: Apache-2.0
// What happens at the edges: foreign and changed flatbuffers, small and crooked arenas, states, several interpreters.
#include "tensorflow/lite/micro/all_ops_resolver.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/schema/schema_generated.h"

#include "checks.h"
#include "digits.h"
#include "expected.h"
#include "softmax_data.h"

extern const unsigned char g_digits_data[];
namespace networks {
extern const unsigned char g_states[];
}

namespace {

tflite::AllOpsResolver resolver;
uint8_t arena[6000], other_arena[1000];

bool refuses(const void *array)
{
    const tflite::Model *model = tflite::GetModel(array);
    tflite::MicroInterpreter interpreter(model, resolver, arena, sizeof arena);
    forget();
    const bool refused = interpreter.AllocateTensors() == kTfLiteError && interpreter.Invoke() == kTfLiteError;
    const bool said_so = strstr(said, "this model is not among those that mcugen compiled into the firmware") != nullptr;
    return model != nullptr && model->version() == 0u && refused && said_so && interpreter.input(0) == nullptr &&
           interpreter.output(0) == nullptr && interpreter.inputs_size() == 0u;
}

void foreign_flatbuffers()
{
    static const unsigned char foreign[20] = { 0x1c, 0, 0, 0, 'T', 'F', 'L', '3' }; // shorter than what is compared
    CHECK(refuses(foreign));
    CHECK(refuses(nullptr));
    static unsigned char changed[sizeof softmax_data];
    const unsigned places[] = { 4u, 70u, sizeof softmax_data - 1u };
    for (unsigned place : places) {
        memcpy(changed, softmax_data, sizeof softmax_data);
        changed[place] = static_cast<unsigned char>(changed[place] ^ 1u);
        CHECK(refuses(changed));
    }
    memcpy(changed, softmax_data, sizeof softmax_data);
    CHECK(tflite::GetModel(changed)->version() == TFLITE_SCHEMA_VERSION);
}

void small_arenas()
{
    const tflite::Model *model = tflite::GetModel(g_digits_data);
    tflite::MicroInterpreter small(model, resolver, arena, 1000u);
    forget();
    CHECK(small.AllocateTensors() == kTfLiteError && small.input(0) == nullptr && small.Invoke() == kTfLiteError);
    const char *const asked = strstr(said, "digits: the tensor arena has 1000 bytes and needs ");
    CHECK(asked != nullptr);
    unsigned needs = 0u;
    for (const char *digit = asked != nullptr ? asked + 50 : ""; *digit >= '0' && *digit <= '9'; digit += 1) {
        needs = needs * 10u + static_cast<unsigned>(*digit - '0');
    }
    CHECK(needs >= sizeof(digits_t) && needs <= sizeof(digits_t) + 2u * sizeof(TfLiteTensor) + 30u);
    for (unsigned offset = 0u; offset < 16u; offset += 1u) {
        tflite::MicroInterpreter crooked(model, resolver, arena + offset, needs);
        CHECK(crooked.AllocateTensors() == kTfLiteOk);
        CHECK((reinterpret_cast<uintptr_t>(crooked.input(0)->data.data) & 15u) == 0u);
        const uint8_t *const end = reinterpret_cast<const uint8_t *>(crooked.output(0) + 1);
        CHECK(end <= arena + offset + needs);
    }
    tflite::MicroInterpreter none(model, resolver, static_cast<uint8_t *>(nullptr), 0u);
    CHECK(none.AllocateTensors() == kTfLiteError);
    forget();
    CHECK(tflite::MicroAllocator::Create(arena, 8u) == nullptr && strstr(said, "the tensor arena has 8 bytes") != nullptr);
    tflite::MicroInterpreter lost(model, resolver, static_cast<tflite::MicroAllocator *>(nullptr));
    CHECK(lost.AllocateTensors() == kTfLiteError);
}

void order_of_calls()
{
    const tflite::Model *model = tflite::GetModel(g_digits_data);
    tflite::MicroInterpreter interpreter(model, resolver, arena, sizeof arena);
    CHECK(interpreter.input(0) == nullptr && interpreter.inputs_size() == 1u);
    CHECK(interpreter.Invoke() == kTfLiteOk); // it takes its memory itself
    TfLiteTensor *const input = interpreter.input(0);
    memcpy(input->data.int8, digits_in0, sizeof digits_in0);
    CHECK(interpreter.AllocateTensors() == kTfLiteOk && interpreter.input(0) == input);
    CHECK(memcmp(input->data.int8, digits_in0, sizeof digits_in0) == 0);
    CHECK(interpreter.Invoke() == kTfLiteOk);
    CHECK(memcmp(interpreter.output(0)->data.int8, digits_out0, sizeof digits_out0) == 0);
    CHECK(interpreter.Reset() == kTfLiteOk);
}

/* The bytes of the C, and those of the interface, for inputs of every kind. */
void bytes_of_the_c()
{
    static digits_t plain;
    tflite::MicroInterpreter interpreter(tflite::GetModel(g_digits_data), resolver, arena + 3, sizeof arena - 3u);
    CHECK(interpreter.AllocateTensors() == kTfLiteOk);
    uint32_t state = 1u;
    bool same = true;
    for (int run = 0; run < 8; run += 1) {
        for (int i = 0; i < DIGITS_INPUT_LEN; i += 1) {
            state = state * 1664525u + 1013904223u;
            const int8_t value = static_cast<int8_t>(static_cast<int32_t>(state >> 24) - 128);
            digits_input(&plain)[i] = value;
            interpreter.input(0)->data.int8[i] = value;
        }
        digits_run(&plain);
        same = same && interpreter.Invoke() == kTfLiteOk;
        same = same && memcmp(interpreter.output(0)->data.int8, digits_output(&plain), DIGITS_OUTPUT_SIZE) == 0;
    }
    CHECK(same);
}

bool step(tflite::MicroInterpreter &interpreter, int k)
{
    const int count = static_cast<int>(sizeof states_in0) / states_steps;
    memcpy(interpreter.input(0)->data.data, states_in0 + k * count, static_cast<size_t>(count));
    return interpreter.Invoke() == kTfLiteOk &&
           memcmp(interpreter.output(0)->data.data, states_out0 + k * count, static_cast<size_t>(count)) == 0;
}

void states()
{
    const tflite::Model *model = tflite::GetModel(networks::g_states);
    tflite::MicroInterpreter first(model, resolver, arena, sizeof arena), second(model, resolver, other_arena, sizeof other_arena);
    memset(arena, 0x55, sizeof arena);
    CHECK(first.AllocateTensors() == kTfLiteOk && second.AllocateTensors() == kTfLiteOk);
    for (int k = 0; k < states_steps; k += 1) { // one behind the other
        CHECK(step(first, k));
        CHECK(k == 0 || step(second, k - 1));
    }
    CHECK(first.Reset() == kTfLiteOk && step(first, 0) && step(first, 1));
    CHECK(first.ResetVariableTensors() == kTfLiteOk && step(first, 0));
    CHECK(first.AllocateTensors() == kTfLiteOk && step(first, 0));
    tflite::MicroInterpreter again(model, resolver, arena, sizeof arena);
    CHECK(again.AllocateTensors() == kTfLiteOk && step(again, 0));
}

void one_allocator()
{
    tflite::MicroAllocator *allocator = tflite::MicroAllocator::Create(arena, sizeof arena);
    tflite::MicroResourceVariables *variables = tflite::MicroResourceVariables::Create(allocator, 20);
    CHECK(variables != nullptr && variables->ResetAll() == kTfLiteOk);
    const tflite::Model *model = tflite::GetModel(g_digits_data);
    tflite::MicroInterpreter first(model, resolver, allocator), second(model, resolver, allocator);
    tflite::MicroInterpreter kept(tflite::GetModel(networks::g_states), resolver, allocator, variables);
    CHECK(first.AllocateTensors() == kTfLiteOk);
    const size_t one = allocator->used_bytes();
    CHECK(kept.AllocateTensors() == kTfLiteOk && step(kept, 0));
    const size_t two = allocator->used_bytes();
    CHECK(second.AllocateTensors() == kTfLiteOk && second.input(0)->data.data == first.input(0)->data.data);
    CHECK(allocator->used_bytes() - two <= 2u * sizeof(TfLiteTensor) + 15u && two > one);
    for (int k = 0; k < 2; k += 1) {
        tflite::MicroInterpreter &shared = k == 0 ? first : second;
        memcpy(shared.input(0)->data.int8, digits_in0, sizeof digits_in0);
        CHECK(shared.Invoke() == kTfLiteOk);
        CHECK(memcmp(shared.output(0)->data.int8, digits_out0, sizeof digits_out0) == 0);
    }
    CHECK(step(kept, 1)); // what it keeps is where no other model runs
    tflite::MicroInterpreter also(tflite::GetModel(networks::g_states), resolver, allocator, variables);
    CHECK(also.AllocateTensors() == kTfLiteOk && step(also, 0));
    CHECK(variables->ResetAll() == kTfLiteOk && step(kept, 0) && step(also, 0));
    tflite::MicroInterpreter *const rest[] = { &first, &second, &kept };
    for (tflite::MicroInterpreter *each : rest) {
        CHECK(each->arena_used_bytes() == allocator->used_bytes());
    }
    CHECK(allocator->AllocatePersistentBuffer(sizeof arena) == nullptr);
    forget();
    tflite::MicroAllocator *small = tflite::MicroAllocator::Create(other_arena, 300u);
    tflite::MicroInterpreter large(model, resolver, small);
    const size_t before = small->used_bytes();
    CHECK(large.AllocateTensors() == kTfLiteError && small->used_bytes() == before);
    CHECK(strstr(said, "digits: the tensor arena has 300 bytes and needs ") != nullptr);
}

} // namespace

void behaviour()
{
    foreign_flatbuffers();
    small_arenas();
    order_of_calls();
    bytes_of_the_c();
    states();
    one_allocator();
}
