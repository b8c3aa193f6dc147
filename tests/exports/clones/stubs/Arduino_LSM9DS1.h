/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "Arduino.h"

/* A sensor that rests, is turned to and fro, and rests. */
struct SensorStub {
    int readings = 0, asked = 0;
    bool begin()
    {
        return true;
    }
    void setContinuousMode() {}
    float accelerationSampleRate()
    {
        return 119;
    }
    float gyroscopeSampleRate()
    {
        return 119;
    }
    int accelerationAvailable()
    {
        asked += 1;
        return asked % 3 != 0;
    }
    int gyroscopeAvailable()
    {
        return 0;
    }
    int readAcceleration(float &x, float &y, float &z)
    {
        x = 0;
        y = 0;
        z = 1;
        return 1;
    }
    int readGyroscope(float &x, float &y, float &z)
    {
        readings += 1;
        const float moves = readings % 400 > 150 && readings % 400 < 280 ? 1.0f : 0.0f;
        x = 0;
        y = moves * 90.0f * (readings / 20 % 2 ? 1.0f : -1.0f);
        z = moves * 120.0f;
        return 1;
    }
};
static SensorStub IMU;
