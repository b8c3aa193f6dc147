// SPDX-License-Identifier: Apache-2.0
// Applications as they are written now: constructors, places of the interpreter, arenas, tensors, resolvers, profilers.
#define N 20 /* firmware defines such names */
#define T 21
#define R 22
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/micro/all_ops_resolver.h"
#include "tensorflow/lite/micro/kernels/conv.h"
#include "tensorflow/lite/micro/kernels/fully_connected.h"
#include "tensorflow/lite/micro/kernels/micro_ops.h"
#include "tensorflow/lite/micro/kernels/softmax.h"
#include "tensorflow/lite/micro/kernels/svdf.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_log.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_profiler.h"
#include "tensorflow/lite/micro/micro_utils.h"
#include "tensorflow/lite/micro/recording_micro_interpreter.h"
#include "tensorflow/lite/micro/system_setup.h"
#include "tensorflow/lite/schema/schema_generated.h"

#include "checks.h"
#include "digits.h"
#include "expected.h"

namespace tflite {
class MicroInterpreter; // firmware names them before it includes headers
struct Model;
} // namespace tflite

extern const unsigned char g_digits_data[];
extern const unsigned int g_digits_data_len;
extern const int g_digits_data_size;
namespace networks {
extern const unsigned char digits_tflite[];
extern const unsigned char g_states[];
} // namespace networks

namespace {

using DigitsResolver = tflite::MicroMutableOpResolver<6>;
uint8_t arena[6000];

TfLiteStatus RegisterOps(DigitsResolver &resolver)
{
    TF_LITE_ENSURE_STATUS(resolver.AddConv2D());
    TF_LITE_ENSURE_STATUS(resolver.AddConv2D(tflite::Register_CONV_2D_INT8()));
    TF_LITE_ENSURE_STATUS(resolver.AddDepthwiseConv2D());
    TF_LITE_ENSURE_STATUS(resolver.AddMaxPool2D());
    TF_LITE_ENSURE_STATUS(resolver.AddReshape());
    TF_LITE_ENSURE_STATUS(resolver.AddFullyConnected(tflite::Register_FULLY_CONNECTED_INT8()));
    TF_LITE_ENSURE_STATUS(resolver.AddSoftmax(tflite::Register_SOFTMAX_INT8()));
    TF_LITE_ENSURE_STATUS(resolver.AddSvdf(tflite::Register_SVDF_INT8()));
    TF_LITE_ENSURE_STATUS(resolver.AddCustom("TFLite_Detection_PostProcess", tflite::Register_DETECTION_POSTPROCESS()));
    return resolver.AddUnidirectionalSequenceLSTM();
}

TfLiteStatus HasData(TfLiteContext *context, const TfLiteTensor *tensor)
{
    TF_LITE_ENSURE(context, tensor != nullptr);
    return kTfLiteOk;
}

bool computes(tflite::MicroInterpreter &interpreter)
{
    CHECK(HasData(nullptr, nullptr) == kTfLiteError && HasData(nullptr, interpreter.input(0)) == kTfLiteOk);
    TfLiteTensor *input = interpreter.input(0);
    memcpy(input->data.int8, digits_in0, sizeof digits_in0);
    return interpreter.Invoke() == kTfLiteOk && memcmp(interpreter.output(0)->data.int8, digits_out0, sizeof digits_out0) == 0;
}

void on_the_stack()
{
    DigitsResolver resolver;
    CHECK(RegisterOps(resolver) == kTfLiteOk);
    const tflite::Model *model = ::tflite::GetModel(g_digits_data);
    TFLITE_CHECK_EQ(model->version(), static_cast<uint32_t>(TFLITE_SCHEMA_VERSION));
    tflite::MicroInterpreter interpreter(model, resolver, arena, sizeof arena);
    CHECK(interpreter.initialization_status() == kTfLiteOk);
    CHECK(interpreter.AllocateTensors() == kTfLiteOk);
    CHECK(interpreter.inputs_size() == 1 && interpreter.outputs_size() == 1);
    CHECK(interpreter.inputs().size() == 1 && interpreter.outputs().size() == 1);
    const TfLiteTensor *input = interpreter.input(0), *output = interpreter.output(0);
    CHECK(input->dims->size == 4 && input->dims->data[0] == 1 && input->dims->data[1] == 8);
    CHECK(input->dims->data[2] == 8 && input->dims->data[3] == 1 && tflite::ElementCount(*input->dims) == 64);
    CHECK(input->type == kTfLiteInt8 && input->bytes == 64u && !input->is_variable);
    CHECK(output->dims->size == 2 && output->dims->data[1] == 10 && output->bytes == 10u);
    CHECK(input->params.scale > 0.00392156f && input->params.scale < 0.00392158f && input->params.zero_point == -128);
    CHECK(input->quantization.type == kTfLiteAffineQuantization);
    const auto *affine = static_cast<const TfLiteAffineQuantization *>(output->quantization.params);
    CHECK(affine->scale->size == 1 && affine->scale->data[0] == output->params.scale);
    CHECK(affine->zero_point->size == 1 && affine->zero_point->data[0] == output->params.zero_point);
    CHECK(interpreter.input(1) == nullptr && interpreter.output(1) == nullptr);
    CHECK(interpreter.typed_input_tensor<int8_t>(0) == input->data.int8);
    CHECK(interpreter.typed_output_tensor<float>(0) == nullptr);
    CHECK(tflite::GetTensorData<int8_t>(output) == output->data.int8);
    CHECK(strcmp(TfLiteTypeGetName(input->type), "INT8") == 0);
    CHECK(computes(interpreter) && interpreter.arena_used_bytes() <= sizeof arena);
}

class Recogniser {
  public:
    Recogniser() : interpreter_(tflite::GetModel(g_digits_data), resolver_, arena_, sizeof arena_)
    {
        RegisterOps(resolver_);
    }
    tflite::MicroInterpreter &interpreter()
    {
        return interpreter_;
    }

  private:
    DigitsResolver resolver_;
    uint8_t arena_[3001];
    tflite::MicroInterpreter interpreter_;
};

void in_other_places()
{
    static Recogniser member;
    CHECK(member.interpreter().AllocateTensors() == kTfLiteOk && computes(member.interpreter()));
    DigitsResolver resolver;
    static tflite::MicroInterpreter lasting(tflite::GetModel(networks::digits_tflite), resolver, arena + 1, sizeof arena - 1);
    tflite::MicroInterpreter *pointer = &lasting;
    CHECK(pointer->AllocateTensors() == kTfLiteOk && computes(*pointer));
#if __has_include(<new>)
    alignas(tflite::MicroInterpreter) static uint8_t room[sizeof(tflite::MicroInterpreter)];
    pointer = new (room) tflite::MicroInterpreter(tflite::GetModel(g_digits_data), resolver, arena, sizeof arena);
    CHECK(pointer->AllocateTensors() == kTfLiteOk && computes(*pointer));
    pointer->~MicroInterpreter();
    std::unique_ptr<uint8_t[]> heap(new uint8_t[4000]);
    auto made = std::unique_ptr<tflite::MicroInterpreter>(
        new tflite::MicroInterpreter(tflite::GetModel(g_digits_data), resolver, heap.get(), 4000));
    CHECK(made->AllocateTensors() == kTfLiteOk && computes(*made));
#endif
}

void lengths()
{
    CHECK(g_digits_data_size == static_cast<int>(g_digits_data_len) && g_digits_data_len < digits_bytes); // of the record
}

/* A profiler of the application. */
class Counter : public tflite::MicroProfilerInterface {
  public:
    uint32_t BeginEvent(const char *tag) override
    {
        last = tag;
        begun += 1u;
        return begun;
    }
    void EndEvent(uint32_t event) override
    {
        ended += event == begun ? 1u : 0u;
    }
    const char *last = "";
    uint32_t begun = 0u, ended = 0u;
};

#ifdef MCUGEN_TFLM_LAYERS
const uint32_t events = 6u;
const char *const last_event = "Softmax";
#else
const uint32_t events = 1u;
const char *const last_event = "digits";
#endif

void with_profilers()
{
    static tflite::MicroProfiler profiler;
    tflite::AllOpsResolver resolver;
    Counter counter;
    const tflite::Model *model = tflite::GetModel(g_digits_data);
    tflite::MicroInterpreter first(model, resolver, arena, sizeof arena, nullptr, &profiler);
    tflite::MicroInterpreter second(model, resolver, arena, sizeof arena, nullptr, &counter, false);
    CHECK(first.AllocateTensors() == kTfLiteOk && computes(first));
    CHECK(profiler.GetTotalTicks() == 10u * events);
    forget();
    profiler.Log();
    CHECK(strstr(said, last_event) != nullptr && strstr(said, " took 10 ticks (10 ms).") != nullptr);
    forget();
    profiler.LogTicksPerTagCsv();
    CHECK(strstr(said, "Unique Tag") != nullptr && strstr(said, last_event) != nullptr);
    forget();
    profiler.LogCsv();
    CHECK(strstr(said, "\"Event\",\"Tag\",\"Ticks\"") != nullptr);
    profiler.ClearEvents();
    CHECK(profiler.GetTotalTicks() == 0u);
    CHECK(second.AllocateTensors() == kTfLiteOk && computes(second) && computes(second));
    CHECK(counter.begun == 2u * events && counter.ended == counter.begun && strcmp(counter.last, last_event) == 0);
    CHECK(second.SetAlternateProfiler(&profiler) == kTfLiteOk && computes(second));
    CHECK(profiler.GetTotalTicks() == 0u && counter.begun == 3u * events);
    { tflite::ScopedMicroProfiler scoped("own", &profiler); }
    CHECK(profiler.GetTotalTicks() == 10u);
    CHECK(tflite::TicksToMs(50) == 50u);
}

void with_allocators()
{
    DigitsResolver resolver;
    static tflite::MicroProfiler profiler;
    tflite::RecordingMicroAllocator *recording(tflite::RecordingMicroAllocator::Create(arena, sizeof arena));
    tflite::RecordingMicroInterpreter recorder(tflite::GetModel(g_digits_data), resolver, recording,
                                               tflite::MicroResourceVariables::Create(recording, 24), &profiler);
    CHECK(recorder.AllocateTensors() == kTfLiteOk && computes(recorder));
    forget();
    recorder.GetMicroAllocator().PrintAllocations();
    CHECK(strstr(said, "of 6000 bytes") != nullptr);
    const auto kind = tflite::RecordedAllocationType::kPersistentBufferData;
    CHECK(recording->GetRecordedAllocation(kind).used_bytes == recording->used_bytes());
    static uint8_t lasting[500], shared[2100];
    tflite::MicroAllocator *two = tflite::MicroAllocator::Create(lasting, sizeof lasting, shared, sizeof shared);
    tflite::MicroInterpreter apart(tflite::GetModel(g_digits_data), resolver, two, nullptr, nullptr);
    CHECK(apart.AllocateTensors() == kTfLiteOk && computes(apart));
    uint8_t *const at = reinterpret_cast<uint8_t *>(apart.input(0)->data.data);
    CHECK(at >= shared && at < shared + sizeof shared);
    tflite::RecordingMicroInterpreter own(tflite::GetModel(g_digits_data), resolver, arena, sizeof arena);
    CHECK(own.AllocateTensors() == kTfLiteOk && computes(own));
    CHECK(own.GetMicroAllocator().used_bytes() == own.arena_used_bytes());
}

void numbers()
{
    CHECK(tflite::FloatToQuantizedType<int8_t>(0.5f, 1.0f, 3) == 4 && tflite::FloatToQuantizedType<int8_t>(-0.5f, 1.0f, 3) == 2);
    CHECK(tflite::FloatToQuantizedType<int8_t>(1e9f, 1.0f, 0) == 127 && tflite::FloatToQuantizedType<uint8_t>(-9.0f, 1.0f, 0) == 0);
    CHECK(tflite::FloatToSymmetricQuantizedType<int8_t>(-500.0f, 1.0f) == -127);
    CHECK(tflite::FloatToQuantizedType<int32_t>(123456.5f, 1.0f, 0) == 123457);
    const float values[] = { 0.0f, 0.26f, -0.26f };
    int16_t stored[3];
    float back[3];
    tflite::Quantize(values, stored, 3, 0.25f, 1);
    CHECK(stored[0] == 1 && stored[1] == 2 && stored[2] == 0);
    tflite::Dequantize(stored, 3, 0.25f, 1, back);
    CHECK(back[0] == 0.0f && back[1] == 0.25f && back[2] == -0.25f);
}

} // namespace

void newer_applications()
{
    on_the_stack();
    in_other_places();
    lengths();
    with_profilers();
    with_allocators();
    numbers();
}
