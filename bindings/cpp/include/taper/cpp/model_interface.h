/* SPDX-License-Identifier: BSD-2-Clause */
// A model and a session, shared by all copies of a module. Modules below the root are named by their paths: "layer1.0".
#ifndef TAPER_CPP_MODEL_INTERFACE_H
#define TAPER_CPP_MODEL_INTERFACE_H

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <taper/cpp/archive.h>
#include <taper/cpp/class_source.h>
#include <taper/cpp/ivalue.h>
#include <taper/cpp/method_schema.h>

namespace taper
{
namespace cpp
{

using Kwargs = std::unordered_map<std::string, c10::IValue>;

// An attribute of a module, with its declaration in the class.
struct Slot {
    std::string name;
    c10::IValue value;
    std::string type; // the declared type, or the value's type if the file has no sources
    bool is_parameter, is_buffer, is_module;
};

inline std::string join_path(const std::string &path, const std::string &name)
{
    return path.empty() ? name : path + "." + name;
}

// The functions of a loaded model, which may be called from any thread. ModelOf implements them.
class LoadedModel : public std::enable_shared_from_this<LoadedModel>
{
  public:
    virtual ~LoadedModel() = default;
    virtual c10::IValue run(const std::string &path, const char *method, const std::vector<c10::IValue> &inputs) = 0;
    virtual c10::IValue run(const std::string &path, const char *method, std::vector<c10::IValue> inputs,
                            const Kwargs &kwargs) = 0;
    // Frees the memory kept for the next run, unless a run is active.
    virtual void trim() = 0;
    virtual c10::IValue attribute(const std::string &path) = 0;
    virtual bool has_attribute(const std::string &path) = 0;
    // Sets an attribute, or adds one. Runs see the new value, because a model with changed attributes is loaded again
    // before its next run.
    virtual void set_attribute(const std::string &path, const c10::IValue &value) = 0;
    // Adds an attribute, whose declaration is written to files.
    virtual void add_attribute(const std::string &path, const ClassAttribute &attribute, const c10::IValue &value) = 0;
    virtual std::vector<Slot> slots(const std::string &path) = 0;
    // Returns the class of a module, or null if the file has no sources.
    virtual std::shared_ptr<const ClassSource> class_at(const std::string &path) = 0;
    virtual bool is_module(const std::string &path) = 0;
    virtual std::string class_name(const std::string &path) = 0;
    virtual std::vector<std::string> methods(const std::string &path) = 0;
    virtual c10::FunctionSchema schema(const std::string &path, const char *method) = 0;
    // Returns the graph that a run of the method executes, in Taper's spelling.
    virtual std::string graph(const std::string &path, const char *method) = 0;
    virtual std::string name() = 0;
    virtual int64_t operator_version() = 0;
    virtual std::vector<std::string> operators() = 0;
    virtual int64_t bytecode_version() = 0;
    // Sets the training mode of a module and of the modules below it. If a model that was saved in training mode
    // has not run yet or has no sources, it is loaded again in the wanted mode. All other models change the attributes
    // `training`.
    // Throws if a model without sources was saved in evaluation mode, because its training mode is then unknown.
    virtual void train(const std::string &path, bool on) = 0;
    // Fills in the extra files of the model whose names are requested.
    virtual void extra_files(ExtraFiles &files) = 0;
    // Returns a model with copies of the attributes, below `path`.
    virtual std::shared_ptr<LoadedModel> copy(const std::string &path) = 0;
    // Hides all attributes and methods except the preserved ones, as after torch::jit::freeze.
    virtual void freeze(const std::vector<std::string> &preserved) = 0;
    virtual bool shows(const std::string &name) = 0;
    // Writes a TorchScript archive of a module with its present attributes.
    virtual void save(const std::string &path, const std::string &folder, const ExtraFiles &extras,
                      const ByteSink &sink) = 0;
    // Writes a file for the lite interpreter.
    virtual void save_lite(const std::string &path, const ExtraFiles &extras, bool debug_info, bool flatbuffer,
                           const ByteSink &sink) = 0;
};

} // namespace cpp
} // namespace taper

#endif
