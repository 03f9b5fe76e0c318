/* SPDX-License-Identifier: BSD-2-Clause */
// at::globalContext() and available devices.
#ifndef TAPER_CPP_GLOBAL_CONTEXT_H
#define TAPER_CPP_GLOBAL_CONTEXT_H

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include <taper/cpp/generator.h>
#include <taper/cpp/parallel.h>
#include <taper/cpp/string_view.h>
#include <taper/taper_device.h>

namespace c10
{
enum class QEngine : uint8_t { NoQEngine = 0, FBGEMM = 1, QNNPACK = 2, ONEDNN = 3, X86 = 4 };
constexpr QEngine kNoQEngine = QEngine::NoQEngine, kFBGEMM = QEngine::FBGEMM, kQNNPACK = QEngine::QNNPACK;
constexpr QEngine kONEDNN = QEngine::ONEDNN, kX86 = QEngine::X86;
inline std::string toString(QEngine engine)
{
    static const char *const names[] = {"NoQEngine", "FBGEMM", "QNNPACK", "ONEDNN", "X86"};
    TORCH_CHECK(engine <= QEngine::X86, "Unrecognized Quantized Engine: ", static_cast<int>(engine));
    return names[static_cast<int>(engine)];
}
} // namespace c10

namespace at
{

using c10::kFBGEMM;
using c10::kNoQEngine;
using c10::kONEDNN;
using c10::kQNNPACK;
using c10::QEngine;
enum class Float32MatmulPrecision { HIGHEST, HIGH, MEDIUM };

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
        TORCH_CHECK(std::find(all.begin(), all.end(), engine) != all.end(), "quantized engine ", toString(engine),
                    " is not supported");
        engine_ = engine;
    }

// Defines a function, such as hasCUDA(), that returns `value`: true if this library has that part of libtorch.
#define TAPER_CPP_HAS(name, value)                                                                                     \
    static bool name()                                                                                                 \
    {                                                                                                                  \
        return value;                                                                                                  \
    }
    TAPER_CPP_HAS(hasOpenMP, false)
    TAPER_CPP_HAS(hasMKL, false)
    TAPER_CPP_HAS(hasLAPACK, true)
    TAPER_CPP_HAS(hasMKLDNN, false)
    TAPER_CPP_HAS(hasMAGMA, false)
    TAPER_CPP_HAS(hasCUDA, false)
    TAPER_CPP_HAS(hasCUDART, false)
    TAPER_CPP_HAS(hasCuDNN, false)
    TAPER_CPP_HAS(hasCuSOLVER, false)
    TAPER_CPP_HAS(hasHIP, false)
    TAPER_CPP_HAS(hasIPU, false)
    TAPER_CPP_HAS(hasXLA, false)
    TAPER_CPP_HAS(hasLazy, false)
    TAPER_CPP_HAS(hasMPS, false)
    TAPER_CPP_HAS(hasORT, false)
    TAPER_CPP_HAS(isXNNPACKAvailable, true)
#undef TAPER_CPP_HAS
    static long versionCUDART()
    {
        TORCH_CHECK(false, "Cannot query CUDART version without ATen_cuda library. PyTorch splits its backend into two "
                           "shared libraries: a CPU library and a CUDA library; this error has occurred because you "
                           "are trying to use some CUDA functionality, but the CUDA library has not been loaded by the "
                           "dynamic linker for some reason.");
        return 0;
    }
    static long versionCuDNN()
    {
        TORCH_CHECK(false, "Cannot query cuDNN version without ATen_cuda library. PyTorch splits its backend into two "
                           "shared libraries: a CPU library and a CUDA library; this error has occurred because you "
                           "are trying to use some CUDA functionality, but the CUDA library has not been loaded by the "
                           "dynamic linker for some reason.");
        return 0;
    }
    void lazyInitCUDA()
    {
    }
    void lazyInitHIP()
    {
    }
    const Generator &defaultGenerator(c10::Device device)
    {
        TORCH_CHECK(device.is_cpu(), device.type(), " device type not enabled.");
        static const Generator generator = detail::getDefaultCPUGenerator();
        return generator;
    }
    c10::Device getDeviceFromPtr(void *, c10::DeviceType type)
    {
        TORCH_CHECK(type == c10::kCPU, "only cpu device type supported, got: ", c10::DeviceTypeName(type, true));
        return c10::Device(c10::kCPU);
    }
    static bool isPinnedPtr(const void *)
    {
        return false;
    }
    static void setDefaultMobileCPUAllocator()
    {
    }
    static void unsetDefaultMobileCPUAllocator()
    {
    }
    // Returns false: the mode cannot be set, because each model decides how its runs treat denormal numbers.
    static bool setFlushDenormal(bool)
    {
        return false;
    }

// Settings that are kept and have no effect.
#define TAPER_CPP_SETTING(name, get, type, initial)                                                                    \
  public:                                                                                                              \
    void set##name(type value)                                                                                         \
    {                                                                                                                  \
        get##_ = value;                                                                                                \
    }                                                                                                                  \
    type get() const                                                                                                   \
    {                                                                                                                  \
        return get##_;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
  private:                                                                                                             \
    std::atomic<type> get##_{initial};
    TAPER_CPP_SETTING(UserEnabledCuDNN, userEnabledCuDNN, bool, true)
    TAPER_CPP_SETTING(UserEnabledMkldnn, userEnabledMkldnn, bool, true)
    TAPER_CPP_SETTING(BenchmarkCuDNN, benchmarkCuDNN, bool, false)
    TAPER_CPP_SETTING(BenchmarkLimitCuDNN, benchmarkLimitCuDNN, int, 10)
    TAPER_CPP_SETTING(DeterministicCuDNN, deterministicCuDNN, bool, false)
    TAPER_CPP_SETTING(AllowTF32CuDNN, allowTF32CuDNN, bool, true)
    TAPER_CPP_SETTING(AllowFP16ReductionCuBLAS, allowFP16ReductionCuBLAS, bool, true)
    TAPER_CPP_SETTING(ReleaseWeightsWhenPrepacking, releaseWeightsWhenPrepacking, bool, false)
    TAPER_CPP_SETTING(DisplayVmapFallbackWarnings, areVmapFallbackWarningsEnabled, bool, false)
    TAPER_CPP_SETTING(SDPUseFlash, userEnabledFlashSDP, bool, true)
    TAPER_CPP_SETTING(SDPUseMath, userEnabledMathSDP, bool, true)
#undef TAPER_CPP_SETTING

  public:
    bool deterministicAlgorithms() const
    {
        return deterministic_;
    }
    bool deterministicAlgorithmsWarnOnly() const
    {
        return deterministic_warns_;
    }
    // Stores the setting, which has no effect, because results never depend on threads.
    void setDeterministicAlgorithms(bool value, bool warn_only = false)
    {
        deterministic_ = value;
        deterministic_warns_ = warn_only;
    }
    static void alertNotDeterministic(const c10::string_view &)
    {
    }
    void alertCuBLASConfigNotDeterministic() const
    {
    }
    Float32MatmulPrecision float32MatmulPrecision() const
    {
        return precision_;
    }
    void setFloat32MatmulPrecision(Float32MatmulPrecision precision)
    {
        precision_ = precision;
    }
    void setFloat32MatmulPrecision(const std::string &name)
    {
        static const char *const names[] = {"highest", "high", "medium"};
        const size_t found = static_cast<size_t>(std::find(names, names + 3, name) - names);
        if (found == 3) {
            TORCH_WARN(name,
                       " is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call "
                       "has no effect.");
            return;
        }
        precision_ = static_cast<Float32MatmulPrecision>(found);
    }
    bool allowTF32CuBLAS() const
    {
        return precision_ != Float32MatmulPrecision::HIGHEST;
    }
    void setAllowTF32CuBLAS(bool value)
    {
        precision_ = value ? Float32MatmulPrecision::HIGH : Float32MatmulPrecision::HIGHEST;
    }

  private:
    std::atomic<QEngine> engine_{QEngine::QNNPACK};
    std::atomic<bool> deterministic_{false}, deterministic_warns_{false};
    std::atomic<Float32MatmulPrecision> precision_{Float32MatmulPrecision::HIGHEST};
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

inline bool hasCUDA()
{
    return Context::hasCUDA();
}
inline bool hasHIP()
{
    return Context::hasHIP();
}
inline bool hasIPU()
{
    return Context::hasIPU();
}
inline bool hasXLA()
{
    return Context::hasXLA();
}
inline bool hasMPS()
{
    return Context::hasMPS();
}
inline bool hasORT()
{
    return Context::hasORT();
}
inline bool hasOpenMP()
{
    return Context::hasOpenMP();
}
inline bool hasMKL()
{
    return Context::hasMKL();
}
inline bool hasLAPACK()
{
    return Context::hasLAPACK();
}
inline bool hasMAGMA()
{
    return Context::hasMAGMA();
}
inline bool hasMKLDNN()
{
    return Context::hasMKLDNN();
}
inline size_t getNumGPUs()
{
    return 0;
}
inline void init()
{
}
inline std::string show_config()
{
    return c10::str("PyTorch built with:\n  - Taper ", taper_version(), "\n");
}
inline std::string get_cxx_flags()
{
    return "";
}
inline std::string get_mkl_version()
{
    return "MKL not found";
}
inline std::string get_mkldnn_version()
{
    return "MKLDNN not found";
}
inline std::string get_openmp_version()
{
    return "OpenMP not found";
}
inline std::string get_cpu_capability()
{
    return "DEFAULT";
}
struct NoTF32Guard {
    NoTF32Guard() : before_(disabled())
    {
        disabled() = true;
    }
    ~NoTF32Guard()
    {
        disabled() = before_;
    }
    NoTF32Guard(const NoTF32Guard &) = delete;
    NoTF32Guard &operator=(const NoTF32Guard &) = delete;
    static bool should_disable_tf32()
    {
        return disabled();
    }

  private:
    static bool &disabled()
    {
        static thread_local bool flag = false;
        return flag;
    }
    bool before_;
};

} // namespace at

namespace torch
{
using namespace at;

// These functions say that there is no CUDA, as in a libtorch without CUDA.
namespace cuda
{
inline size_t device_count()
{
    return 0;
}
inline bool is_available()
{
    return false;
}
inline bool cudnn_is_available()
{
    return false;
}
inline void manual_seed(uint64_t)
{
}
inline void manual_seed_all(uint64_t)
{
}
inline void synchronize(int64_t = -1)
{
    TORCH_CHECK(false, "No CUDA GPUs are available");
}
} // namespace cuda
namespace mps
{
inline bool is_available()
{
    return false;
}
inline void manual_seed(uint64_t)
{
}
inline void synchronize()
{
    TORCH_CHECK(false, "PyTorch is not linked with support for mps devices");
}
} // namespace mps
namespace xpu
{
inline size_t device_count()
{
    return 0;
}
inline bool is_available()
{
    return false;
}
} // namespace xpu
} // namespace torch

#endif
