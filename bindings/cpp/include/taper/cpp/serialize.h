/* SPDX-License-Identifier: BSD-2-Clause */
// torch::save, torch::load and their archives. The files have libtorch's format: an archive is a TorchScript module
// without methods, whose attributes are the values that were written.
#ifndef TAPER_CPP_SERIALIZE_H
#define TAPER_CPP_SERIALIZE_H

#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <taper/cpp/archive.h>
#include <taper/cpp/guards.h>
#include <taper/cpp/module.h>
#include <taper/cpp/pickle.h>

namespace taper
{
namespace cpp
{

// Reads a whole file, so that the file may be overwritten while its values exist.
inline std::shared_ptr<const std::string> read_file(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw c10::Error("open file failed, file path: " + path);
    }
    return std::make_shared<const std::string>(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

// Calls a function of the app, which returns the number of bytes that it wrote.
struct FunctionSink {
    const std::function<size_t(const void *, size_t)> *function;
    std::exception_ptr thrown;
    static int write(void *user, const void *data, size_t size) noexcept
    {
        FunctionSink *const self = static_cast<FunctionSink *>(user);
        try {
            return (*self->function)(data, size) == size ? 0 : 1;
        } catch (...) {
            self->thrown = std::current_exception(); // the exception is thrown again after the library has returned
            return 1;
        }
    }
};

inline bool is_identifier(const std::string &name)
{
    for (const char c : name) {
        if (c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')) {
            return false;
        }
    }
    return !name.empty() && (name[0] < '0' || name[0] > '9');
}

} // namespace cpp
} // namespace taper

namespace torch
{
namespace serialize
{

class OutputArchive final
{
  public:
    OutputArchive() : unit_(std::make_shared<jit::CompilationUnit>()), items_(std::make_shared<std::vector<Item>>())
    {
    }
    explicit OutputArchive(std::shared_ptr<jit::CompilationUnit> unit) : OutputArchive()
    {
        unit_ = std::move(unit);
    }
    OutputArchive(OutputArchive &&) = default;
    OutputArchive &operator=(OutputArchive &&) = default;
    OutputArchive(OutputArchive &) = delete;
    OutputArchive &operator=(OutputArchive &) = delete;

    std::shared_ptr<jit::CompilationUnit> compilation_unit() const
    {
        return unit_;
    }
    void write(const std::string &key, const c10::IValue &value)
    {
        put({key, value, nullptr, false, false});
    }
    void write(const std::string &key, const at::Tensor &tensor, bool is_buffer = false)
    {
        put({key, c10::IValue(tensor), nullptr, !is_buffer, is_buffer});
    }
    // The nested archive is written with the values that it has when this archive is saved.
    void write(const std::string &key, OutputArchive &nested)
    {
        put({key, c10::IValue(), nested.items_, false, false});
    }
    void save_to(const std::string &filename)
    {
        taper::cpp::OutputFile file(filename);
        save(taper::cpp::archive_folder(filename), taper::cpp::stream_sink(file.stream()));
        file.finish();
    }
    void save_to(std::ostream &stream)
    {
        save("archive", taper::cpp::stream_sink(stream));
    }
    void save_to(const std::function<size_t(const void *, size_t)> &function)
    {
        taper::cpp::FunctionSink sink = {&function, nullptr};
        try {
            save("archive", {taper::cpp::FunctionSink::write, &sink});
        } catch (const c10::Error &) {
            if (sink.thrown) {
                std::rethrow_exception(sink.thrown);
            }
            throw;
        }
    }
    template <class... T> void operator()(T &&...arguments)
    {
        write(std::forward<T>(arguments)...);
    }

  private:
    struct Item {
        std::string key;
        c10::IValue value;
        std::shared_ptr<std::vector<Item>> nested; // the items of a nested archive; otherwise null
        bool is_parameter, is_buffer;
    };
    void put(Item item)
    {
        for (Item &each : *items_) {
            if (each.key == item.key) {
                each = std::move(item);
                return;
            }
        }
        items_->push_back(std::move(item));
    }
    // Returns an object with the items, and adds the sources of its classes. Every nested archive has a class of its
    // own, because its attributes differ from the attributes of other archives.
    static taper::cpp::Handle object_of(const std::vector<Item> &items, taper::cpp::Sources &sources)
    {
        const std::string prefix =
            sources.empty() ? "__torch__" : "__torch__.___torch_mangle_" + std::to_string(sources.size() - 1);
        const size_t own = sources.size();
        sources.emplace_back(prefix, std::string());
        std::string parameters, buffers, attributes;
        std::vector<const char *> names;
        std::vector<c10::IValue> values;
        bool is_first = true;
        for (const Item &item : items) {
            names.push_back(item.key.c_str());
            std::string type = item.value.type()->annotation_str();
            if (item.nested != nullptr) {
                const size_t next = sources.size();
                values.emplace_back(object_of(*item.nested, sources));
                type = sources[next].first + ".Module";
            } else {
                values.push_back(item.value);
            }
            parameters += item.is_parameter ? "\"" + item.key + "\", " : "";
            buffers += item.is_buffer ? "\"" + item.key + "\", " : "";
            if (taper::cpp::is_identifier(item.key)) {
                attributes += "  " + item.key + " : " + type + "\n";
            } else {
                attributes += (is_first ? "  __annotations__ = []\n" : "") + std::string("  __annotations__[\"") +
                              item.key + "\"] = " + type + "\n";
                is_first = false;
            }
        }
        sources[own].second = "class Module(Module):\n  __parameters__ = [" + parameters + "]\n  __buffers__ = [" +
                              buffers + "]\n" + attributes;
        std::vector<taper::cpp::Handle> made;
        const std::vector<taper_value *> all = c10::impl::pointers(values, made);
        return taper::cpp::make_value(taper_value_object, (prefix + ".Module").c_str(), names.data(), all.data(),
                                      all.size());
    }
    void save(const std::string &folder, const taper::cpp::ByteSink &sink) const
    {
        taper::cpp::Sources sources;
        const taper::cpp::Handle object = object_of(*items_, sources);
        taper::cpp::ArchiveWriter writer(folder, sink);
        writer.value("data", object);
        for (const auto &each : sources) {
            std::string record = "code/" + each.first + ".py";
            std::replace(record.begin(), record.end() - 3, '.', '/');
            writer.record(record, each.second);
        }
        writer.record("constants.pkl", std::string("\x80\x02).", 4));
        writer.record("version", "3\n");
        writer.finish();
    }

    std::shared_ptr<jit::CompilationUnit> unit_;
    std::shared_ptr<std::vector<Item>> items_;
};

class InputArchive final
{
  public:
    InputArchive() = default;
    InputArchive(InputArchive &&) = default;
    InputArchive &operator=(InputArchive &&) = default;
    InputArchive(InputArchive &) = delete;
    InputArchive &operator=(InputArchive &) = delete;

    // If nothing has the key, each try_read returns false and each `read` throws.
    bool try_read(const std::string &key, c10::IValue &value)
    {
        const size_t count = taper_value_count(object_.get());
        for (size_t i = 0; i < count; i++) {
            const char *field = taper_value_field(object_.get(), i);
            if (field != nullptr && key == field) {
                value = c10::IValue(taper::cpp::item_of(object_, i));
                return true;
            }
        }
        return false;
    }
    void read(const std::string &key, c10::IValue &value)
    {
        if (!try_read(key, value)) {
            throw jit::ObjectAttributeError(
                c10::str(c10::IValue(object_).type()->annotation_str(), " (of Python compilation unit at: ",
                         static_cast<const void *>(this), ") does not have a field with name '", key, "'"));
        }
    }
    // A tensor that is defined gets the elements that were read, and remains the same tensor.
    bool try_read(const std::string &key, at::Tensor &tensor, bool = false)
    {
        c10::IValue value;
        if (!try_read(key, value)) {
            return false;
        }
        if (tensor.defined()) {
            tensor.set_(value.toTensor());
        } else {
            tensor = value.toTensor();
        }
        return true;
    }
    void read(const std::string &key, at::Tensor &tensor, bool is_buffer = false)
    {
        if (!try_read(key, tensor, is_buffer)) {
            throw c10::Error("No such serialized tensor '" + prefix_ + key + "'");
        }
    }
    bool try_read(const std::string &key, InputArchive &archive)
    {
        c10::IValue value;
        if (!try_read(key, value) || !value.isObject()) {
            return false;
        }
        archive.object_ = value.handle();
        archive.prefix_ = prefix_ + key + ".";
        return true;
    }
    void read(const std::string &key, InputArchive &archive)
    {
        if (!try_read(key, archive)) {
            throw c10::Error("No such serialized submodule: '" + prefix_ + key + "'");
        }
    }
    std::vector<std::string> keys()
    {
        std::vector<std::string> all;
        const size_t count = taper_value_count(object_.get());
        for (size_t i = 0; i < count; i++) {
            const char *field = taper_value_field(object_.get(), i);
            all.emplace_back(field != nullptr ? field : "");
        }
        return all;
    }
    template <class... T> void operator()(T &&...arguments)
    {
        read(std::forward<T>(arguments)...);
    }

    // The device has no effect: tensors are always in the memory of the CPU.
    void load_from(const std::string &filename, c10::optional<c10::Device> = c10::nullopt)
    {
        open(taper::cpp::read_file(filename));
    }
    void load_from(std::istream &stream, c10::optional<c10::Device> = c10::nullopt)
    {
        open(std::make_shared<const std::string>(std::istreambuf_iterator<char>(stream),
                                                 std::istreambuf_iterator<char>()));
    }
    void load_from(const char *data, size_t size, c10::optional<c10::Device> = c10::nullopt)
    {
        open(std::make_shared<const std::string>(data, size));
    }
    void load_from(const std::function<size_t(uint64_t position, void *buffer, size_t size)> &read,
                   const std::function<size_t(void)> &size, c10::optional<c10::Device> = c10::nullopt)
    {
        std::string bytes(size(), '\0');
        if (!bytes.empty() && read(0, &bytes[0], bytes.size()) != bytes.size()) {
            throw c10::Error("the function read fewer bytes than it was asked for");
        }
        open(std::make_shared<const std::string>(std::move(bytes)));
    }

  private:
    void open(std::shared_ptr<const std::string> bytes)
    {
        const taper::cpp::ArchiveReader reader(taper::cpp::ArchiveReader::open(std::move(bytes)));
        bool is_module = false;
        for (size_t i = 0; i < reader.size(); i++) {
            is_module = is_module || reader.name(i) == "constants.pkl";
        }
        if (!is_module) {
            throw c10::Error("PytorchStreamReader failed locating file constants.pkl: file not found");
        }
        object_ = reader.value("data");
        prefix_.clear();
    }

    taper::cpp::Handle object_; // the module with the values
    std::string prefix_;        // path of a nested archive, for messages
};

} // namespace serialize

inline serialize::OutputArchive &operator<<(serialize::OutputArchive &archive, const at::Tensor &tensor)
{
    archive.write("0", tensor);
    return archive;
}
inline serialize::InputArchive &operator>>(serialize::InputArchive &archive, at::Tensor &tensor)
{
    archive.read("0", tensor);
    return archive;
}

// Writes a value to a path, a stream or a function. OutputArchive must have an operator<< for the type of the value.
template <class Value, class... To> void save(const Value &value, To &&...to)
{
    serialize::OutputArchive archive(std::make_shared<jit::CompilationUnit>());
    archive << value;
    archive.save_to(std::forward<To>(to)...);
}
template <class... To> void save(const std::vector<at::Tensor> &tensors, To &&...to)
{
    serialize::OutputArchive archive(std::make_shared<jit::CompilationUnit>());
    for (size_t i = 0; i < tensors.size(); i++) {
        archive.write(std::to_string(i), tensors[i]);
    }
    archive.save_to(std::forward<To>(to)...);
}
template <class Value, class... From> void load(Value &value, From &&...from)
{
    serialize::InputArchive archive;
    archive.load_from(std::forward<From>(from)...);
    archive >> value;
}
template <class... From> void load(std::vector<at::Tensor> &tensors, From &&...from)
{
    serialize::InputArchive archive;
    archive.load_from(std::forward<From>(from)...);
    at::Tensor tensor;
    for (size_t i = 0; archive.try_read(std::to_string(i), tensor); i++) {
        tensors.push_back(std::move(tensor));
        tensor = at::Tensor();
    }
}

} // namespace torch

#endif
