/* SPDX-License-Identifier: BSD-2-Clause */
// The sources from which models are loaded: a path, bytes in memory, or an object of the app that reads the bytes.
#ifndef TAPER_CPP_MODEL_SOURCE_H
#define TAPER_CPP_MODEL_SOURCE_H

#include <atomic>
#include <cstring>
#include <istream>
#include <iterator>
#include <memory>
#include <string>

#include <taper/cpp/handle.h>
#include <taper/taper_compile.h>
#include <taper/taper_device.h>

namespace caffe2
{
namespace serialize
{

// The interface of an app's class that provides the bytes of a model file.
class ReadAdapterInterface
{
  public:
    virtual size_t size() const = 0;
    // Copies up to n bytes from position pos and returns the number of bytes copied.
    virtual size_t read(uint64_t pos, void *buffer, size_t n, const char *what = "") const = 0;
    virtual ~ReadAdapterInterface() = default;
};

} // namespace serialize
} // namespace caffe2

namespace taper
{
namespace cpp
{

inline std::atomic<bool> &nnapi_flag()
{
    static std::atomic<bool> enabled(true);
    return enabled;
}
// Selects the device of modules that are loaded after this call from files converted for NNAPI. With true, the default
// as in PyTorch Mobile, they run on NNAPI if the system has it; with false they run on the CPU.
inline void set_nnapi_enabled(bool enabled)
{
    nnapi_flag().store(enabled);
}

struct ReadSource {
    const caffe2::serialize::ReadAdapterInterface *adapter;
    std::exception_ptr thrown;
    // The library calls this from C, so that an exception of the adapter is stored and thrown again after the library
    // returns.
    static int read(void *user, uint64_t offset, void *buffer, size_t size) noexcept
    {
        ReadSource *source = static_cast<ReadSource *>(user);
        try {
            return source->adapter->read(offset, buffer, size, "model") == size ? 0 : 1;
        } catch (...) {
            source->thrown = std::current_exception();
            return 1;
        }
    }
};

struct ModelSource {
    std::string path;                   // one of path, bytes and adapter is set
    std::shared_ptr<std::string> bytes; // contents of the model file
    // Object of the app that provides the contents of the model file.
    std::shared_ptr<caffe2::serialize::ReadAdapterInterface> adapter;
    std::string device;     // "" for the device that the file was prepared for
    bool gradients = false; // true if the program asks for gradients of results

    static void release(void *user) noexcept
    {
        delete static_cast<std::shared_ptr<std::string> *>(user);
    }

    taper_model *load(bool evaluation) const
    {
        taper_load_options options;
        std::memset(&options, 0, sizeof options);
        options.struct_size = sizeof options;
        options.compiler = taper_compiler();
        options.flags = (evaluation ? TAPER_LOAD_EVALUATION : 0) | (gradients ? TAPER_LOAD_GRADIENTS : 0);
        const bool nnapi = nnapi_flag().load();
        // Files converted for NNAPI run on NNAPI even if the CPU is requested, as in PyTorch.
        const bool own = device.empty() || (device == "cpu" && nnapi);
        const uint32_t gpus = TAPER_DEVICE_BIT(TAPER_DEVICE_VULKAN) | TAPER_DEVICE_BIT(TAPER_DEVICE_METAL);
        options.barred_devices = !nnapi ? TAPER_DEVICE_BIT(TAPER_DEVICE_NNAPI) : device.empty() ? 0 : gpus;
        ErrorScope error;
        taper_device_choice choice;
        std::memset(&choice, 0, sizeof choice);
        choice.struct_size = sizeof choice;
        if (!own) {
            error.check(taper_device_parse(device.c_str(), &choice, error));
            options.device = &choice;
        }
        taper_model *model = nullptr;
        if (adapter) {
            ReadSource source = {adapter.get(), nullptr};
            const taper_status status = taper_model_load_callback(context(), ReadSource::read, &source, adapter->size(),
                                                                  &options, &model, error);
            if (source.thrown) {
                taper_model_release(model);
                std::rethrow_exception(source.thrown);
            }
            error.check(status);
        } else if (bytes) {
            std::unique_ptr<std::shared_ptr<std::string>> owner(new std::shared_ptr<std::string>(bytes));
            error.check(taper_model_load_memory(context(), bytes->data(), bytes->size(), release, owner.get(), &options,
                                                &model, error));
            owner.release(); // the library owns `owner` from here on
        } else {
            if (path.find('\0') != std::string::npos) {
                throw c10::Error("the path of the model has a character 0");
            }
            error.check(taper_model_load(context(), path.c_str(), &options, &model, error), path);
        }
        return model;
    }
};

inline ModelSource from_path(const std::string &path)
{
    return {path, nullptr, nullptr, "", false};
}
inline ModelSource from_stream(std::istream &in)
{
    const std::shared_ptr<std::string> bytes =
        std::make_shared<std::string>(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (in.bad()) {
        throw c10::Error("the stream of the model could not be read");
    }
    return {"", bytes, nullptr, "", false};
}
inline ModelSource from_adapter(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> adapter)
{
    if (!adapter) {
        throw c10::Error("the adapter of the model is null");
    }
    return {"", nullptr, std::move(adapter), "", false};
}

} // namespace cpp
} // namespace taper

#endif
