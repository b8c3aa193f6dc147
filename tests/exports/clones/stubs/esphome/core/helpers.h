/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace esphome {
using std::make_unique;

template <class Element> struct ExternalRAMAllocator {
    enum { ALLOW_FAILURE };
    explicit ExternalRAMAllocator(int) {}
    Element *allocate(size_t count)
    {
        return static_cast<Element *>(malloc(count * sizeof(Element)));
    }
    void deallocate(Element *at, size_t)
    {
        free(at);
    }
};
} // namespace esphome
