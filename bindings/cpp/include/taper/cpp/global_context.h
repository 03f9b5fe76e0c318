/* SPDX-License-Identifier: BSD-2-Clause */
// at::globalContext(), numbers of threads, and available devices.
#ifndef TAPER_CPP_GLOBAL_CONTEXT_H
#define TAPER_CPP_GLOBAL_CONTEXT_H

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include <taper/cpp/handle.h>
#include <taper/taper_device.h>

namespace at
{

enum class QEngine : uint8_t { NoQEngine = 0, FBGEMM = 1, QNNPACK = 2, ONEDNN = 3 };
constexpr QEngine kNoQEngine = QEngine::NoQEngine, kFBGEMM = QEngine::FBGEMM, kQNNPACK = QEngine::QNNPACK;

class Context
{
  public:
    // Quantized models compute with the arithmetic of QNNPACK.
    static const std::vector<QEngine> &supportedQEngines()
    {
        static const std::vector<QEngine> all = {QEngine::NoQEngine, QEngine::QNNPACK};
        return all;
    }
    QEngine qEngine() const
    {
        return engine_;
    }
    void setQEngine(QEngine engine)
    {
        const std::vector<QEngine> &all = supportedQEngines();
        if (std::find(all.begin(), all.end(), engine) == all.end()) {
            throw c10::Error("quantized engine is not supported");
        }
        engine_ = engine;
    }
    static bool hasCUDA()
    {
        return false;
    }

  private:
    std::atomic<QEngine> engine_{QEngine::QNNPACK};
};

inline Context &globalContext()
{
    static Context context;
    return context;
}

// An addition to PyTorch's interface. Sets a directory of the app where models that are loaded later cache data for the
// next start, mainly packed weights. An empty path disables the cache.
inline void set_cache_dir(const std::string &path)
{
    taper::cpp::ErrorScope error;
    error.check(taper_context_set_cache_dir(taper::cpp::context(), path.empty() ? nullptr : path.c_str(), error));
}

// Returns true if models that are loaded for Vulkan, or prepared for it, run on a GPU. Drivers that compute on the CPU
// do not count.
inline bool is_vulkan_available()
{
    bool found = false;
    const auto look = [](void *user, const taper_device_info *device) {
        *static_cast<bool *>(user) |= device->problem == nullptr && std::string(device->name) == "vulkan";
        return 0;
    };
    taper::cpp::ErrorScope error;
    error.check(taper_context_devices(taper::cpp::context(), look, &found, error));
    return found;
}

inline int get_num_threads()
{
    return static_cast<int>(taper_context_threads(taper::cpp::context()));
}
inline void set_num_threads(int count)
{
    if (count < 1) {
        throw c10::Error(c10::str("Expected positive number of threads, but got ", count));
    }
    taper_context_set_threads(taper::cpp::context(), static_cast<unsigned>(count));
}

} // namespace at

namespace torch
{
using namespace at;
namespace cuda
{
inline bool is_available()
{
    return false;
}
} // namespace cuda
} // namespace torch

#endif
