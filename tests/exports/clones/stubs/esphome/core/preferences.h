/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cstdint>
#include <string>

namespace esphome {
struct ESPPreferenceObject {
    template <class Value> bool save(const Value *)
    {
        return true;
    }
    template <class Value> bool load(Value *)
    {
        return false;
    }
};
struct PreferencesStub {
    template <class Value> ESPPreferenceObject make_preference(uint32_t)
    {
        return {};
    }
};
static PreferencesStub preferences_stub;
static PreferencesStub *global_preferences = &preferences_stub;
inline uint32_t fnv1_hash(const std::string &)
{
    return 0;
}
} // namespace esphome
