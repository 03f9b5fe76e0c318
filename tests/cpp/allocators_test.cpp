// SPDX-License-Identifier: BSD-2-Clause
// allocators_test MODELS: the caching allocator under modules: what is kept, what goes back, guards of threads.
#include <c10/mobile/CPUCachingAllocator.h>
#include <torch/csrc/jit/mobile/import.h>
#include <torch/csrc/jit/mobile/module.h>
#include <torch/script.h>

#include <atomic>
#include <memory>
#include <thread>

#include "check.h"

namespace
{

at::Tensor output(const at::IValue &result)
{
    return result.toGenericDict().at("out").toTensor();
}
at::Tensor image(int64_t size)
{
    const std::vector<float> ones(static_cast<size_t>(3 * size * (size + 16)), 1.0F);
    return torch::from_blob(const_cast<float *>(ones.data()), {1, 3, size, size + 16}, at::kFloat).clone();
}

struct Opened : c10::CPUCachingAllocator {
    taper_caching_info info() const
    {
        taper_caching_info all;
        all.struct_size = sizeof all;
        taper_caching_allocator_info(static_cast<const taper_caching_allocator *>(guarded().allocator.user), &all);
        return all;
    }
};

void sizes_that_change(const std::string &path)
{
    torch::jit::mobile::Module module = torch::jit::_load_for_mobile(path);
    Opened caching;
    const auto run_all = [&] {
        for (int64_t i = 0; i < 16; i++) { // more sizes than a session has plans
            module.forward({image(32 + 16 * (i * 5 % 16))});
        }
    };
    module.forward({image(32)});
    CHECK(caching.info().fetched == 0);
    {
        const c10::WithCPUCachingAllocatorGuard guard(&caching);
        run_all();
        run_all();
        const taper_caching_info before = caching.info();
        run_all();
        const taper_caching_info after = caching.info();
        CHECK(after.reused > before.reused + 100);
        CHECK((after.fetched - before.fetched) * 10 < after.reused - before.reused);
        CHECK(after.used_bytes > 0);
        CHECK(after.kept_bytes > 0);
        caching.free_cached();
        CHECK(caching.info().kept_bytes == 0);
        CHECK(caching.info().used_bytes < before.used_bytes / 4);
    }
    // Without the guard nothing new comes from it, and what it has out comes back.
    const taper_caching_info before = caching.info();
    module.forward({image(500)});
    CHECK(caching.info().fetched == before.fetched);
    CHECK(caching.info().reused == before.reused);
    caching.free_cached();
    CHECK(caching.info().kept_bytes == 0);
    module.forward({image(32)});
}

void results_that_stay(const std::string &path)
{
    std::unique_ptr<Opened> caching(new Opened), other(new Opened);
    at::Tensor result, first;
    {
        torch::jit::mobile::Module module;
        {
            const c10::WithCPUCachingAllocatorGuard guard(caching.get());
            module = torch::jit::_load_for_mobile(path);
            result = output(module.forward({image(64)}));
            first = result.clone();
            {
                const c10::WithCPUCachingAllocatorGuard inner(other.get());
                const uint64_t fetched = caching->info().fetched;
                module.forward({image(80)});
                CHECK(other->info().fetched > 0);
                CHECK(caching->info().fetched == fetched);
                const c10::WithCPUCachingAllocatorGuard none(nullptr);
                module.forward({image(96)});
            }
            module.forward({image(112)});
        }
        other.reset(); // the module still has memory of it
        module.forward({image(64)});
    }
    CHECK(caching->info().used_bytes > 0);
    caching.reset();
    CHECK(same(result, first)); // whose memory was the allocator's
    result.add_(result);
}

void threads(const std::string &path)
{
    Opened caching;
    torch::jit::Module shared = torch::jit::load(path);
    const at::Tensor expected = output(shared.forward({image(48)})).clone();
    std::atomic<int> wrong{0};
    std::vector<std::thread> all;
    std::vector<at::Tensor> results(6);
    for (size_t i = 0; i < results.size(); i++) {
        all.emplace_back([&, i] {
            try {
                std::unique_ptr<Opened> own(i < 3 ? nullptr : new Opened);
                torch::jit::Module module = i % 2 == 0 ? shared : torch::jit::load(path);
                const c10::WithCPUCachingAllocatorGuard guard(i == 2 ? nullptr : own ? own.get() : &caching);
                for (int64_t run = 0; run < 6; run++) {
                    module.forward({image(32 + 16 * run)});
                    results[i] = output(module.forward({image(48)}));
                    wrong += !same(results[i], expected);
                    caching.free_cached();
                }
            } catch (const std::exception &thrown) {
                std::printf("%s\n", thrown.what());
                wrong++;
            }
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    CHECK(wrong == 0);
    for (const at::Tensor &result : results) { // freed in another thread than they were made, some behind the allocator
        CHECK(same(result, expected));
    }
}

void blocks()
{
    Opened caching;
    std::vector<void *> all;
    for (size_t size : {size_t{0}, size_t{1}, size_t{64}, size_t{1000}}) {
        all.push_back(caching.allocate(size));
        CHECK(reinterpret_cast<uintptr_t>(all.back()) % 64 == 0);
        std::memset(all.back(), 1, size);
    }
    caching.free(all[3]);
    CHECK(caching.allocate(1000) == all[3]);
    caching.free(all[1]);
    caching.free(nullptr);
    CHECK_THROWS((caching.free(all[1]), 0), "not one of this allocator");
    CHECK_THROWS((caching.free(&caching), 0), "not one of this allocator");
    CHECK_THROWS(caching.allocate(static_cast<size_t>(-1) - 10), "out of memory");
}

} // namespace

int main(int argc, char **argv)
{
    const std::string path = std::string(argc > 1 ? argv[1] : ".") + "/segmenter.ptl";
    sizes_that_change(path);
    results_that_stay(path);
    threads(path);
    blocks();
    return check_report();
}
