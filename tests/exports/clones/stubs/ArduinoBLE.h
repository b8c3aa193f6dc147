/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <algorithm>

#include "Arduino.h"

enum { BLERead = 1, BLEWrite = 2, BLENotify = 4 };
struct BLEService {
    explicit BLEService(const char *) {}
    template <class Added> void addCharacteristic(Added &) {}
};
struct BLECharacteristic {
    BLECharacteristic(const char *, int, int) {}
    template <class... Written> int writeValue(Written...)
    {
        return 1;
    }
};
struct BLEDevice {
    bool connected()
    {
        return false;
    }
    String address()
    {
        return "";
    }
    operator bool() const
    {
        return false;
    }
};
struct BluetoothStub {
    bool begin()
    {
        return true;
    }
    String address()
    {
        return "00:11:22:33:44:55";
    }
    void setLocalName(const char *) {}
    void setDeviceName(const char *) {}
    void setAdvertisedService(BLEService &) {}
    void addService(BLEService &) {}
    void advertise() {}
    BLEDevice central()
    {
        return {};
    }
};
static BluetoothStub BLE;
