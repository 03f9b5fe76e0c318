/* SPDX-License-Identifier: BSD-2-Clause */
// The samplers and data loaders of torch::data. They throw c10::NotImplementedError when they are constructed.
#ifndef TAPER_CPP_DATA_LOADER_H
#define TAPER_CPP_DATA_LOADER_H

#include <taper/cpp/data.h>

namespace torch
{
namespace data
{

struct DataLoaderOptions {
    DataLoaderOptions() = default;
    DataLoaderOptions(size_t batch_size) : batch_size_(batch_size)
    {
    }
    TORCH_ARG(size_t, batch_size) = 1;
    TORCH_ARG(size_t, workers) = 0;
    TORCH_ARG(c10::optional<size_t>, max_jobs);
    TORCH_ARG(c10::optional<std::chrono::milliseconds>, timeout);
    TORCH_ARG(bool, enforce_ordering) = true;
    TORCH_ARG(bool, drop_last) = false;
};

struct FullDataLoaderOptions {
    explicit FullDataLoaderOptions(const DataLoaderOptions &options)
        : batch_size(options.batch_size()), workers(options.workers()),
          max_jobs(options.max_jobs().value_or(2 * workers)), timeout(options.timeout()),
          enforce_ordering(options.enforce_ordering()), drop_last(options.drop_last())
    {
    }
    size_t batch_size, workers, max_jobs;
    c10::optional<std::chrono::milliseconds> timeout;
    bool enforce_ordering, drop_last;
};

namespace samplers
{

// Chooses the examples of a batch. Programs may derive samplers of their own.
template <class BatchRequest = std::vector<size_t>> class Sampler
{
  public:
    using BatchRequestType = BatchRequest;
    virtual ~Sampler() = default;
    virtual void reset(c10::optional<size_t> new_size) = 0;
    virtual c10::optional<BatchRequest> next(size_t batch_size) = 0;
    virtual void save(serialize::OutputArchive &archive) const = 0;
    virtual void load(serialize::InputArchive &archive) = 0;
};

struct CustomBatchRequest {
    virtual ~CustomBatchRequest() = default;
    virtual size_t size() const = 0;
};

struct BatchSize : public CustomBatchRequest {
    explicit BatchSize(size_t size) : size_(size)
    {
    }
    size_t size() const noexcept override
    {
        return size_;
    }
    operator size_t() const noexcept
    {
        return size_;
    }
    size_t size_;
};

// Defines a sampler. The last parameters of the macro are the parameters of the sampler's constructor.
#define TAPER_CPP_SAMPLER(name, Request, ...)                                                                          \
    class name : public Sampler<Request>                                                                               \
    {                                                                                                                  \
      public:                                                                                                          \
        explicit name(__VA_ARGS__)                                                                                     \
        {                                                                                                              \
            data::detail::not_loaded("samplers::" #name);                                                              \
        }                                                                                                              \
        void reset(c10::optional<size_t> = c10::nullopt) override                                                      \
        {                                                                                                              \
        }                                                                                                              \
        c10::optional<Request> next(size_t) override                                                                   \
        {                                                                                                              \
            return c10::nullopt;                                                                                       \
        }                                                                                                              \
        void save(serialize::OutputArchive &) const override                                                           \
        {                                                                                                              \
        }                                                                                                              \
        void load(serialize::InputArchive &) override                                                                  \
        {                                                                                                              \
        }                                                                                                              \
        size_t index() const noexcept                                                                                  \
        {                                                                                                              \
            return 0;                                                                                                  \
        }                                                                                                              \
        void set_epoch(size_t)                                                                                         \
        {                                                                                                              \
        }                                                                                                              \
        size_t epoch() const                                                                                           \
        {                                                                                                              \
            return 0;                                                                                                  \
        }                                                                                                              \
    };
TAPER_CPP_SAMPLER(RandomSampler, std::vector<size_t>, int64_t, c10::ScalarType = c10::kLong)
TAPER_CPP_SAMPLER(SequentialSampler, std::vector<size_t>, size_t)
TAPER_CPP_SAMPLER(DistributedRandomSampler, std::vector<size_t>, size_t, size_t = 1, size_t = 0, bool = true)
TAPER_CPP_SAMPLER(DistributedSequentialSampler, std::vector<size_t>, size_t, size_t = 1, size_t = 0, bool = true)
TAPER_CPP_SAMPLER(StreamSampler, BatchSize, size_t)
#undef TAPER_CPP_SAMPLER

} // namespace samplers

template <class Batch> class Iterator
{
  public:
    using difference_type = std::ptrdiff_t;
    using value_type = Batch;
    using pointer = Batch *;
    using reference = Batch &;
    using iterator_category = std::input_iterator_tag;

    Iterator &operator++()
    {
        detail::not_loaded("Iterator");
    }
    Batch &operator*()
    {
        detail::not_loaded("Iterator");
    }
    Batch *operator->()
    {
        detail::not_loaded("Iterator");
    }
    bool operator==(const Iterator &) const
    {
        return true;
    }
    bool operator!=(const Iterator &) const
    {
        return false;
    }
};

template <class Set, class Batch, class BatchRequest> class DataLoaderBase
{
  public:
    using BatchType = Batch;
    using BatchRequestType = BatchRequest;

    // name: the class that is named in the error.
    explicit DataLoaderBase(const DataLoaderOptions &options, std::unique_ptr<Set> = nullptr,
                            const char *name = "DataLoaderBase")
        : options_(options)
    {
        detail::not_loaded(name);
    }
    virtual ~DataLoaderBase() = default;
    Iterator<Batch> begin()
    {
        return {};
    }
    Iterator<Batch> end()
    {
        return {};
    }
    void join()
    {
    }
    const FullDataLoaderOptions &options() const noexcept
    {
        return options_;
    }

  private:
    FullDataLoaderOptions options_;
};

template <class Set, class Sampler>
class StatelessDataLoader : public DataLoaderBase<Set, typename Set::BatchType, typename Sampler::BatchRequestType>
{
  public:
    StatelessDataLoader(const Set &, const Sampler &, const DataLoaderOptions &options)
        : DataLoaderBase<Set, typename Set::BatchType, typename Sampler::BatchRequestType>(options, nullptr,
                                                                                           "StatelessDataLoader")
    {
    }
};

template <class Set>
class StatefulDataLoader
    : public DataLoaderBase<Set, typename Set::BatchType::value_type, typename Set::BatchRequestType>
{
  public:
    StatefulDataLoader(const Set &, const DataLoaderOptions &options)
        : DataLoaderBase<Set, typename Set::BatchType::value_type, typename Set::BatchRequestType>(options, nullptr,
                                                                                                   "StatefulDataLoader")
    {
    }
};

template <class Set, class Sampler>
std::enable_if_t<!Set::is_stateful, std::unique_ptr<StatelessDataLoader<Set, Sampler>>> make_data_loader(
    Set, Sampler, DataLoaderOptions)
{
    detail::not_loaded("make_data_loader");
}
template <class Sampler = samplers::RandomSampler, class Set>
std::enable_if_t<!Set::is_stateful && std::is_constructible<Sampler, size_t>::value,
                 std::unique_ptr<StatelessDataLoader<Set, Sampler>>>
make_data_loader(Set, DataLoaderOptions = DataLoaderOptions())
{
    detail::not_loaded("make_data_loader");
}
template <class Set, class = std::enable_if_t<Set::is_stateful>>
std::unique_ptr<StatefulDataLoader<Set>> make_data_loader(Set, DataLoaderOptions = DataLoaderOptions())
{
    detail::not_loaded("make_data_loader");
}

struct WorkerException : public std::exception {
    explicit WorkerException(std::exception_ptr original)
        : original_exception(std::move(original)), message("Caught exception in DataLoader worker thread.")
    {
        try {
            std::rethrow_exception(original_exception);
        } catch (const std::exception &thrown) {
            message += std::string(" Original message: ") + thrown.what();
        }
    }
    const char *what() const noexcept override
    {
        return message.c_str();
    }
    std::exception_ptr original_exception;
    std::string message;
};

} // namespace data
} // namespace torch

#endif
