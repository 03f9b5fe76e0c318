/* SPDX-License-Identifier: BSD-2-Clause */
// The switches of libtorch's graph executor and fusers. A switch returns the value that the program has set, and has no
// other effect: modules are optimized when they are loaded.
#ifndef TAPER_CPP_EXECUTOR_H
#define TAPER_CPP_EXECUTOR_H

#include <atomic>
#include <utility>
#include <vector>

#include <taper/cpp/check.h>

namespace torch
{
namespace jit
{

enum ExecutorExecutionMode { SIMPLE, PROFILING };
enum class FusionBehavior { STATIC, DYNAMIC };
using FusionStrategy = std::vector<std::pair<FusionBehavior, size_t>>;

inline std::atomic<bool> &getProfilingMode()
{
    static std::atomic<bool> mode{true};
    return mode;
}
inline std::atomic<bool> &getExecutorMode()
{
    static std::atomic<bool> mode{true};
    return mode;
}
inline std::atomic<size_t> &getNumProfiledRuns()
{
    static std::atomic<size_t> runs{1};
    return runs;
}
inline bool IsNewExecutorEnabled()
{
    return getExecutorMode() && getProfilingMode();
}

namespace detail
{
inline FusionStrategy &fusion_strategy()
{
    static FusionStrategy strategy = {{FusionBehavior::STATIC, 2}, {FusionBehavior::DYNAMIC, 10}};
    return strategy;
}
} // namespace detail
inline FusionStrategy getFusionStrategy()
{
    return detail::fusion_strategy();
}
// Sets the strategy, and returns the previous one.
inline FusionStrategy setFusionStrategy(FusionStrategy &strategy)
{
    FusionStrategy before = detail::fusion_strategy();
    detail::fusion_strategy() = strategy;
    return before;
}
inline size_t getBailoutDepth()
{
    size_t depth = 0;
    for (const auto &each : detail::fusion_strategy()) {
        depth += each.second;
    }
    return depth;
}

// A switch, with a function that sets it and a function that returns it.
#define TAPER_CPP_SWITCH(name, initial)                                                                                \
    inline std::atomic<bool> &name##_switch()                                                                          \
    {                                                                                                                  \
        static std::atomic<bool> flag{initial};                                                                        \
        return flag;                                                                                                   \
    }
namespace detail
{
TAPER_CPP_SWITCH(optimize, true)
TAPER_CPP_SWITCH(fuser, true)
TAPER_CPP_SWITCH(dynamic_fusion, false)
TAPER_CPP_SWITCH(reductions, false)
TAPER_CPP_SWITCH(fusion_inlining, true)
TAPER_CPP_SWITCH(subgraph_inlining, true)
TAPER_CPP_SWITCH(autocast, true)
TAPER_CPP_SWITCH(cpu_fusion, false)
TAPER_CPP_SWITCH(gpu_fusion, true)
TAPER_CPP_SWITCH(onednn, false)
TAPER_CPP_SWITCH(cuda_fusion, false)
TAPER_CPP_SWITCH(cuda_guard, true)
TAPER_CPP_SWITCH(singleton_fusion, false)
TAPER_CPP_SWITCH(horizontal_fusion, true)
} // namespace detail
#undef TAPER_CPP_SWITCH

inline void setGraphExecutorOptimize(bool value)
{
    detail::optimize_switch() = value;
}
inline bool getGraphExecutorOptimize()
{
    return detail::optimize_switch();
}
inline void setTensorExprFuserEnabled(bool value)
{
    detail::fuser_switch() = value;
}
inline bool tensorExprFuserEnabled()
{
    return detail::fuser_switch();
}
inline void setTensorExprDynamicShapeFusionEnabled(bool value)
{
    detail::dynamic_fusion_switch() = value;
}
inline bool tensorExprDynamicShapeFusionEnabled()
{
    return detail::dynamic_fusion_switch();
}
inline bool setTexprReductionsEnabled(bool value)
{
    return detail::reductions_switch().exchange(value);
}
inline bool texprReductionsEnabled()
{
    return detail::reductions_switch();
}
inline void debugSetFusionGroupInlining(bool value)
{
    detail::fusion_inlining_switch() = value;
}
inline bool getFusionGroupInlining()
{
    return detail::fusion_inlining_switch();
}
inline void debugSetAutodiffSubgraphInlining(bool value)
{
    detail::subgraph_inlining_switch() = value;
}
inline bool setAutocastMode(bool value)
{
    return detail::autocast_switch().exchange(value);
}
inline bool autocastEnabled()
{
    return detail::autocast_switch();
}
inline void overrideCanFuseOnCPU(bool value)
{
    detail::cpu_fusion_switch() = value;
}
inline bool canFuseOnCPU()
{
    return detail::cpu_fusion_switch();
}
inline void overrideCanFuseOnGPU(bool value)
{
    detail::gpu_fusion_switch() = value;
}
inline bool canFuseOnGPU()
{
    return detail::gpu_fusion_switch();
}
inline bool &getInlineEverythingMode()
{
    static bool mode = false;
    return mode;
}

// These guards set a mode until they are destroyed.
struct GraphOptimizerEnabledGuard {
    explicit GraphOptimizerEnabledGuard(bool value) : old_state_(getGraphExecutorOptimize())
    {
        setGraphExecutorOptimize(value);
    }
    ~GraphOptimizerEnabledGuard()
    {
        setGraphExecutorOptimize(old_state_);
    }
    GraphOptimizerEnabledGuard(const GraphOptimizerEnabledGuard &) = delete;
    GraphOptimizerEnabledGuard &operator=(const GraphOptimizerEnabledGuard &) = delete;
    bool old_state_;
};
struct EnableProfilingGuard {
    EnableProfilingGuard() : old_executor_mode(getExecutorMode().exchange(true)), old_get_optimize(getProfilingMode())
    {
        getProfilingMode() = true;
    }
    ~EnableProfilingGuard()
    {
        getExecutorMode() = old_executor_mode;
        getProfilingMode() = old_get_optimize;
    }
    EnableProfilingGuard(const EnableProfilingGuard &) = delete;
    EnableProfilingGuard &operator=(const EnableProfilingGuard &) = delete;
    bool old_executor_mode, old_get_optimize;
};

namespace fuser
{
namespace cuda
{
inline bool isEnabled()
{
    return detail::cuda_fusion_switch();
}
// Returns the previous value. The fuser cannot be enabled, because there is no CUDA.
inline bool setEnabled(bool value)
{
    TORCH_CHECK(!value, "Running CUDA fuser is only supported on CUDA builds.");
    return detail::cuda_fusion_switch().exchange(false);
}
inline bool canBeEnabled()
{
    return false;
}
inline std::atomic<bool> &getCudaFusionGuardMode()
{
    return detail::cuda_guard_switch();
}
inline bool getSingletonFusion()
{
    return detail::singleton_fusion_switch();
}
inline bool setSingletonFusion(bool value)
{
    return detail::singleton_fusion_switch().exchange(value);
}
inline bool getHorizontalFusion()
{
    return detail::horizontal_fusion_switch();
}
inline bool setHorizontalFusion(bool value)
{
    return detail::horizontal_fusion_switch().exchange(value);
}
} // namespace cuda
namespace onednn
{
inline void setLlgaFusionEnabled(bool value)
{
    detail::onednn_switch() = value;
}
inline bool isLlgaFusionEnabled()
{
    return detail::onednn_switch();
}
} // namespace onednn
} // namespace fuser

struct RegisterCudaFuseGraph {
    static bool registerPass(bool enabled)
    {
        return fuser::cuda::setEnabled(enabled);
    }
    static bool isRegistered()
    {
        return fuser::cuda::isEnabled();
    }
};
struct RegisterLlgaFuseGraph {
    static bool setEnabled(bool enabled)
    {
        const bool before = fuser::onednn::isLlgaFusionEnabled();
        fuser::onednn::setLlgaFusionEnabled(enabled);
        return before;
    }
    static bool isEnabled()
    {
        return fuser::onednn::isLlgaFusionEnabled();
    }
};

} // namespace jit
} // namespace torch

#endif
