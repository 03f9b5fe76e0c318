/* SPDX-License-Identifier: BSD-2-Clause */
// Pickles of values, as Python's torch writes and reads them.
#ifndef TAPER_CPP_PICKLE_H
#define TAPER_CPP_PICKLE_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <taper/cpp/archive.h>
#include <taper/cpp/ivalue.h>

namespace torch
{
namespace jit
{

// Returns the bytes of a file that Python's torch.load can read.
inline std::vector<char> pickle_save(const c10::IValue &value)
{
    std::string bytes;
    taper::cpp::ArchiveWriter writer("archive", taper::cpp::string_sink(bytes));
    writer.value("data", value.isNone() ? taper::cpp::make_value(taper_value_none) : value.handle());
    writer.record("version", "3\n");
    writer.finish();
    return std::vector<char>(bytes.begin(), bytes.end());
}
// Reads the bytes of a file that Python's torch.save or pickle_save has written.
inline c10::IValue pickle_load(const std::vector<char> &data)
{
    const std::shared_ptr<const std::string> bytes = std::make_shared<const std::string>(data.begin(), data.end());
    return c10::IValue(taper::cpp::ArchiveReader(taper::cpp::ArchiveReader::open(bytes)).value("data"));
}

// Returns a pickle without an archive. A value with tensors throws, because the pickle has no place for their elements.
inline std::vector<char> pickle(const c10::IValue &value, std::vector<at::Tensor> * = nullptr)
{
    std::string bytes;
    const taper::cpp::ByteSink sink = taper::cpp::string_sink(bytes);
    const taper::cpp::Handle handle = value.isNone() ? taper::cpp::make_value(taper_value_none) : value.handle();
    taper::cpp::ErrorScope error;
    error.check(taper_value_pickle(taper::cpp::context(), handle.get(), sink.write, sink.user, error));
    return std::vector<char>(bytes.begin(), bytes.end());
}
inline void pickle(const std::function<void(const char *, size_t)> &writer, const c10::IValue &value,
                   std::vector<at::Tensor> *tensor_table = nullptr)
{
    const std::vector<char> bytes = pickle(value, tensor_table);
    writer(bytes.data(), bytes.size());
}
inline c10::IValue unpickle(const char *data, size_t size)
{
    taper_value *value = nullptr;
    taper::cpp::ErrorScope error;
    error.check(taper_value_unpickle(taper::cpp::context(), data, size, &value, error));
    return c10::IValue(taper::cpp::Handle(value));
}

} // namespace jit

using jit::pickle_load;
using jit::pickle_save;

} // namespace torch

#endif
