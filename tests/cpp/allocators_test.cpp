// SPDX-License-Identifier: BSD-2-Clause
// allocators_test MODELS: tests the caching allocator with modules (blocks that it caches and frees, and guards in
// several threads), and the profiling allocator.
#include <c10/mobile/CPUCachingAllocator.h>
#include <c10/mobile/CPUProfilingAllocator.h>
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
        for (int64_t i = 0; i < 16; i++) { // 16 sizes are more than the number of memory plans that a session keeps
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
    // Without the guard, the module gets no new blocks from the caching allocator, but returns the allocator's blocks
    // to it.
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
        other.reset(); // the module that is still alive has memory from the allocator
        module.forward({image(64)});
    }
    CHECK(caching->info().used_bytes > 0);
    caching.reset();
    CHECK(same(result, first)); // the result's memory belongs to the allocator
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
    for (const at::Tensor &result : results) { // frees results in another thread, some after the allocator
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

// ---- planned memory

// Allocates blocks as the library does: they have different sizes, and each is freed some allocations later.
void allocate_some(std::vector<void *> &places, size_t last_size)
{
    const taper_allocator a = taper::cpp::ThreadAllocator::get();
    const size_t sizes[] = {1000, 200, 3000, 200, 1000, last_size};
    void *blocks[6];
    places.clear();
    for (size_t i = 0; i < 6; i++) {
        blocks[i] = a.reallocate(a.user, nullptr, 0, sizes[i]);
        std::memset(blocks[i], static_cast<int>(i), sizes[i]);
        places.push_back(blocks[i]);
        if (i >= 2) {
            a.reallocate(a.user, blocks[i - 2], sizes[i - 2], 0);
        }
    }
    a.reallocate(a.user, blocks[4], sizes[4], 0);
    a.reallocate(a.user, blocks[5], sizes[5], 0);
}

bool is_inside(const void *block, const void *first, uint64_t size)
{
    const char *at = static_cast<const char *>(block), *from = static_cast<const char *>(first);
    return at >= from - size && at < from + size;
}

void plans(const std::string &path)
{
    c10::AllocationPlan plan;
    std::vector<void *> places;
    {
        const c10::WithProfileAllocationsGuard guard(&plan);
        allocate_some(places, 500);
    }
    CHECK(plan.allocations.size() == 6);
    CHECK(plan.allocations[0].lifetime == 3);
    uint64_t sum = 0, most = 0;
    for (size_t i = 0; i < plan.allocations.size(); i++) {
        const c10::AllocationPlan::Allocation &a = plan.allocations[i];
        sum += a.size;
        most = std::max(most, a.offset + a.size);
        for (size_t j = 0; j < i; j++) { // blocks with overlapping lifetimes do not overlap
            const c10::AllocationPlan::Allocation &b = plan.allocations[j];
            CHECK(b.lifetime <= i || a.offset + a.size <= b.offset || b.offset + b.size <= a.offset);
        }
    }
    CHECK(most <= plan.total_size);
    CHECK(plan.total_size < sum);
    bool success = false;
    {
        const c10::WithValidateAllocationPlanGuard guard(&plan, &success);
        allocate_some(places, 500);
    }
    CHECK(success);
    {
        const c10::WithValidateAllocationPlanGuard guard(&plan, &success);
        allocate_some(places, 501);
    }
    CHECK(!success);
    {
        const c10::WithValidateAllocationPlanGuard guard(&plan, &success);
    }
    CHECK(!success);
    c10::CPUProfilingAllocator allocator;
    for (size_t last_size : {500, 700}) { // in the second round the last allocation differs from the plan
        const c10::WithProfilingAllocatorGuard guard(&allocator, &plan);
        allocate_some(places, last_size);
        for (size_t i = 0; i < 5; i++) {
            CHECK(is_inside(places[i], places[0], plan.total_size));
            CHECK(static_cast<char *>(places[i]) - static_cast<char *>(places[0]) ==
                  static_cast<std::ptrdiff_t>(plan.allocations[i].offset - plan.allocations[0].offset));
        }
    }

    // Tests a module's first run under each of the guards. Memory that is kept must remain valid after the guard ends.
    torch::jit::mobile::Module first = torch::jit::_load_for_mobile(path), second = torch::jit::_load_for_mobile(path);
    at::Tensor expected, result;
    {
        const c10::WithProfileAllocationsGuard guard(&plan);
        expected = output(first.forward({image(64)}));
    }
    CHECK(!plan.allocations.empty());
    {
        const c10::WithProfilingAllocatorGuard guard(&allocator, &plan);
        result = output(second.forward({image(64)}));
        output(second.forward({image(80)}));
    }
    CHECK(same(result, expected));
    CHECK(same(output(second.forward({image(64)})), expected));
    first = torch::jit::mobile::Module();
    second = torch::jit::mobile::Module();
    CHECK(same(result, expected));
}

} // namespace

int main(int argc, char **argv)
{
    const std::string path = std::string(argc > 1 ? argv[1] : ".") + "/segmenter.ptl";
    sizes_that_change(path);
    results_that_stay(path);
    threads(path);
    blocks();
    plans(path);
    return check_report();
}
