// SPDX-License-Identifier: Apache-2.0
// Tests written with TensorFlow Lite Micro's macros: those of today.
#include "tensorflow/lite/micro/all_ops_resolver.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/testing/micro_test_v2.h"
#include "tensorflow/lite/schema/schema_generated.h"

#include "expected.h"

extern const unsigned char g_digits_data[];
int test_applications();

static uint8_t arena[5000];

TEST(Digits, Computes)
{
    tflite::AllOpsResolver resolver;
    tflite::MicroInterpreter interpreter(tflite::GetModel(g_digits_data), resolver, arena, sizeof arena);
    ASSERT_EQ(interpreter.AllocateTensors(), kTfLiteOk);
    ASSERT_NE(interpreter.input(0), nullptr);
    memcpy(interpreter.input(0)->data.int8, digits_in0, sizeof digits_in0);
    EXPECT_EQ(kTfLiteOk, interpreter.Invoke());
    for (int k = 0; k < 10; k += 1) {
        EXPECT_EQ(interpreter.output(0)->data.int8[k], digits_out0[k]);
    }
    EXPECT_NEAR(interpreter.output(0)->params.scale, 0.00390625f, 1e-9);
    EXPECT_GT(interpreter.arena_used_bytes(), 1000u);
    EXPECT_STREQ("INT8", TfLiteTypeGetName(interpreter.output(0)->type));
}

class Pair : public testing::Test {
  public:
    void SetUp() override
    {
        left = 1;
    }
    int left = 0, right = 2;
};

TEST_F(Pair, IsSetUp)
{
    EXPECT_LT(left, right);
    EXPECT_TRUE(left == 1);
    EXPECT_FALSE(right == 1);
}

int test_applications()
{
    return RUN_ALL_TESTS();
}
