/* SPDX-License-Identifier: BSD-2-Clause */
// torch::data: examples, data sets and their transforms work as in libtorch. Samplers, data loaders and the files of
// MNIST throw c10::NotImplementedError when they are constructed.
#ifndef TAPER_CPP_DATA_H
#define TAPER_CPP_DATA_H

#include <chrono>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <taper/cpp/functions.h>
#include <taper/cpp/nn/expanding_array.h>
#include <taper/cpp/tensor_data.h>

namespace torch
{
namespace serialize
{
class InputArchive;
class OutputArchive;
} // namespace serialize

namespace data
{

namespace detail
{
[[noreturn]] inline void not_loaded(const char *name)
{
    throw c10::NotImplementedError(std::string("torch::data::") + name + ": there are no data loaders");
}
template <class T> struct IsOptional : std::false_type {
};
template <class T> struct IsOptional<c10::optional<T>> : std::true_type {
};
template <bool Stateful, class T> using OptionalIf = std::conditional_t<Stateful, c10::optional<T>, T>;
} // namespace detail

// The entry of a data set: data, and the expected result of a model for it.
template <class Data = at::Tensor, class Target = at::Tensor> struct Example {
    using DataType = Data;
    using TargetType = Target;

    Example() = default;
    Example(Data its_data, Target its_target) : data(std::move(its_data)), target(std::move(its_target))
    {
    }
    Data data;
    Target target;
};

namespace example
{
using NoTarget = void;
}

template <class Data> struct Example<Data, example::NoTarget> {
    using DataType = Data;
    using TargetType = example::NoTarget;

    Example() = default;
    Example(Data its_data) : data(std::move(its_data))
    {
    }
    operator Data &()
    {
        return data;
    }
    operator const Data &() const
    {
        return data;
    }
    Data data;
};
using TensorExample = Example<at::Tensor, example::NoTarget>;

namespace datasets
{

template <class Set, class Transform> class MapDataset;
template <class Set, class Transform> MapDataset<Set, Transform> map(Set dataset, Transform transform);

template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = c10::ArrayRef<size_t>>
class BatchDataset
{
  public:
    using SelfType = Self;
    using BatchType = Batch;
    using BatchRequestType = BatchRequest;
    static constexpr bool is_stateful = data::detail::IsOptional<Batch>::value;

    virtual ~BatchDataset() = default;
    virtual Batch get_batch(BatchRequest request) = 0;
    virtual c10::optional<size_t> size() const = 0;
    template <class Transform> MapDataset<Self, Transform> map(Transform transform) &
    {
        return datasets::map(static_cast<Self &>(*this), std::move(transform));
    }
    template <class Transform> MapDataset<Self, Transform> map(Transform transform) &&
    {
        return datasets::map(std::move(static_cast<Self &>(*this)), std::move(transform));
    }
};

template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>>
{
  public:
    using ExampleType = SingleExample;

    virtual ExampleType get(size_t index) = 0;
    std::vector<ExampleType> get_batch(c10::ArrayRef<size_t> indices) override
    {
        std::vector<ExampleType> batch;
        batch.reserve(indices.size());
        for (const size_t index : indices) {
            batch.push_back(get(index));
        }
        return batch;
    }
};

template <class Self, class Batch = std::vector<Example<>>> using StreamDataset = BatchDataset<Self, Batch, size_t>;

template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, c10::optional<Batch>, BatchRequest>
{
  public:
    virtual void reset() = 0;
    virtual void save(serialize::OutputArchive &archive) const = 0;
    virtual void load(serialize::InputArchive &archive) = 0;
};

// A data set whose batches a transform changes.
template <class Set, class Transform>
class MapDataset : public BatchDataset<MapDataset<Set, Transform>,
                                       data::detail::OptionalIf<Set::is_stateful, typename Transform::OutputBatchType>,
                                       typename Set::BatchRequestType>
{
  public:
    using DatasetType = Set;
    using TransformType = Transform;
    using BatchRequestType = typename Set::BatchRequestType;
    using OutputBatchType = data::detail::OptionalIf<Set::is_stateful, typename Transform::OutputBatchType>;

    MapDataset(Set dataset, Transform transform) : dataset_(std::move(dataset)), transform_(std::move(transform))
    {
    }
    OutputBatchType get_batch(BatchRequestType indices) override
    {
        return apply(dataset_.get_batch(std::move(indices)));
    }
    c10::optional<size_t> size() const noexcept override
    {
        return dataset_.size();
    }
    void reset()
    {
        dataset_.reset();
    }
    const Set &dataset() noexcept
    {
        return dataset_;
    }
    const Transform &transform() noexcept
    {
        return transform_;
    }

  private:
    template <class Batch> OutputBatchType apply(c10::optional<Batch> batch)
    {
        return batch ? OutputBatchType(transform_.apply_batch(std::move(*batch))) : OutputBatchType();
    }
    template <class Batch> OutputBatchType apply(Batch batch)
    {
        return transform_.apply_batch(std::move(batch));
    }
    Set dataset_;
    Transform transform_;
};

template <class Set, class Transform> MapDataset<Set, Transform> map(Set dataset, Transform transform)
{
    return {std::move(dataset), std::move(transform)};
}

// A data set whose copies share one underlying data set.
template <class Set>
class SharedBatchDataset
    : public BatchDataset<SharedBatchDataset<Set>, typename Set::BatchType, typename Set::BatchRequestType>
{
  public:
    using BatchType = typename Set::BatchType;
    using BatchRequestType = typename Set::BatchRequestType;

    SharedBatchDataset(std::shared_ptr<Set> dataset) : dataset_(std::move(dataset))
    {
    }
    BatchType get_batch(BatchRequestType request) override
    {
        return dataset_->get_batch(std::move(request));
    }
    c10::optional<size_t> size() const override
    {
        return dataset_->size();
    }
    Set &operator*()
    {
        return *dataset_;
    }
    const Set &operator*() const
    {
        return *dataset_;
    }
    Set *operator->()
    {
        return dataset_.get();
    }
    const Set *operator->() const
    {
        return dataset_.get();
    }
    void reset()
    {
        dataset_->reset();
    }

  private:
    std::shared_ptr<Set> dataset_;
};
template <class Set, class... Arguments> SharedBatchDataset<Set> make_shared_dataset(Arguments &&...arguments)
{
    return std::make_shared<Set>(std::forward<Arguments>(arguments)...);
}

// The examples are the entries of the first dimension of a tensor.
struct TensorDataset : public Dataset<TensorDataset, TensorExample> {
    explicit TensorDataset(const std::vector<at::Tensor> &tensors) : tensor(at::stack(tensors))
    {
    }
    explicit TensorDataset(at::Tensor its_tensor) : tensor(std::move(its_tensor))
    {
    }
    TensorExample get(size_t index) override
    {
        return tensor[static_cast<int64_t>(index)];
    }
    c10::optional<size_t> size() const override
    {
        return static_cast<size_t>(tensor.size(0));
    }
    at::Tensor tensor;
};

class MNIST : public Dataset<MNIST>
{
  public:
    enum class Mode { kTrain, kTest };
    explicit MNIST(const std::string &, Mode = Mode::kTrain)
    {
        data::detail::not_loaded("datasets::MNIST");
    }
    Example<> get(size_t) override
    {
        return {};
    }
    c10::optional<size_t> size() const override
    {
        return size_t(0);
    }
    bool is_train() const noexcept
    {
        return false;
    }
    const at::Tensor &images() const
    {
        return images_;
    }
    const at::Tensor &targets() const
    {
        return targets_;
    }

  private:
    at::Tensor images_, targets_;
};

} // namespace datasets

namespace transforms
{

template <class InputBatch, class OutputBatch> class BatchTransform
{
  public:
    using InputBatchType = InputBatch;
    using OutputBatchType = OutputBatch;
    virtual ~BatchTransform() = default;
    virtual OutputBatch apply_batch(InputBatch input_batch) = 0;
};

template <class Input, class Output> class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>>
{
  public:
    using InputType = Input;
    using OutputType = Output;
    virtual Output apply(Input input) = 0;
    std::vector<Output> apply_batch(std::vector<Input> inputs) override
    {
        std::vector<Output> outputs;
        outputs.reserve(inputs.size());
        for (Input &input : inputs) {
            outputs.push_back(apply(std::move(input)));
        }
        return outputs;
    }
};

template <class Input, class Output = Input> class BatchLambda : public BatchTransform<Input, Output>
{
  public:
    using FunctionType = std::function<Output(Input)>;
    explicit BatchLambda(FunctionType function) : function_(std::move(function))
    {
    }
    Output apply_batch(Input batch) override
    {
        return function_(std::move(batch));
    }

  private:
    FunctionType function_;
};

template <class Input, class Output = Input> class Lambda : public Transform<Input, Output>
{
  public:
    using FunctionType = std::function<Output(Input)>;
    explicit Lambda(FunctionType function) : function_(std::move(function))
    {
    }
    Output apply(Input input) override
    {
        return function_(std::move(input));
    }

  private:
    FunctionType function_;
};

template <class T, class Batch = std::vector<T>> using Collation = BatchTransform<Batch, T>;
template <class T, class Batch = std::vector<T>> using Collate = BatchLambda<Batch, T>;

// Stacks the examples of a batch into one example, whose tensors have an additional first dimension.
template <class T = Example<>> struct Stack;
template <> struct Stack<Example<>> : public Collation<Example<>> {
    Example<> apply_batch(std::vector<Example<>> examples) override
    {
        std::vector<at::Tensor> data, targets;
        for (Example<> &example : examples) {
            data.push_back(std::move(example.data));
            targets.push_back(std::move(example.target));
        }
        return {at::stack(data), at::stack(targets)};
    }
};
template <> struct Stack<TensorExample> : public Collation<TensorExample> {
    TensorExample apply_batch(std::vector<TensorExample> examples) override
    {
        std::vector<at::Tensor> data;
        for (TensorExample &example : examples) {
            data.push_back(std::move(example.data));
        }
        return at::stack(data);
    }
};

template <class Target = at::Tensor>
class TensorTransform : public Transform<Example<at::Tensor, Target>, Example<at::Tensor, Target>>
{
  public:
    using E = Example<at::Tensor, Target>;
    virtual at::Tensor operator()(at::Tensor input) = 0;
    E apply(E input) override
    {
        input.data = (*this)(std::move(input.data));
        return input;
    }
};

template <class Target = at::Tensor> class TensorLambda : public TensorTransform<Target>
{
  public:
    using FunctionType = std::function<at::Tensor(at::Tensor)>;
    explicit TensorLambda(FunctionType function) : function_(std::move(function))
    {
    }
    at::Tensor operator()(at::Tensor input) override
    {
        return function_(std::move(input));
    }

  private:
    FunctionType function_;
};

// Subtracts the mean of each channel and divides by its standard deviation. The first dimension is the channels.
template <class Target = at::Tensor> struct Normalize : public TensorTransform<Target> {
    Normalize(c10::ArrayRef<double> means, c10::ArrayRef<double> deviations)
        : mean(torch::tensor(means, torch::kFloat32).unsqueeze(1).unsqueeze(2)),
          stddev(torch::tensor(deviations, torch::kFloat32).unsqueeze(1).unsqueeze(2))
    {
    }
    at::Tensor operator()(at::Tensor input) override
    {
        return input.sub(mean).div(stddev);
    }
    at::Tensor mean, stddev;
};

} // namespace transforms
} // namespace data
} // namespace torch

#endif
