/* SPDX-License-Identifier: BSD-2-Clause */
// A model and a session, shared by all copies of a module, with a lock around its runs. Modules below the root are
// named by their paths: "layer1.0".
#ifndef TAPER_CPP_LOADED_MODEL_H
#define TAPER_CPP_LOADED_MODEL_H

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include <taper/cpp/model_interface.h>
#include <taper/cpp/model_source.h>
#include <taper/cpp/print.h>
#include <taper/taper_app.h>
#include <taper/taper_inspect.h>

namespace taper
{
namespace cpp
{

// Implements LoadedModel. ModelOf is a template, and LoadedModel is an interface, so that only programs that load a
// model compile ModelOf.
template <class Base> class ModelOf final : public Base
{
  public:
    explicit ModelOf(ModelSource source) : source_(std::move(source))
    {
        open(false);
        is_trained_ = taper_model_is_training(model_.get()) != 0;
    }

    // ---- running methods

    c10::IValue run(const std::string &path, const char *method, const std::vector<c10::IValue> &inputs) override
    {
        if (!path.empty()) {
            return child(path)->run("", method, inputs);
        }
        std::vector<Handle> made;
        const std::vector<taper_value *> all = c10::impl::pointers(inputs, made);
        taper_value *result = nullptr;
        ErrorScope error;
        const GuardedAllocator *guarded = guarded_allocator();
        if (guarded != nullptr && guarded->ran != nullptr) {
            guarded->ran(guarded->user, this->shared_from_this());
        }
        const Locked guard(*this);
        renew();
        record(all);
        has_run_ = true;
        const taper_status status = taper_session_run(session_.get(), method, all.data(), all.size(), &result, error);
        if (status == TAPER_ERROR_ARGUMENT) {
            // This call adds advice to the error of the run. If the call fails, the error is complete without advice.
            (void)!taper_session_advise(session_.get(), method, all.data(), all.size(), error);
        }
        error.check(status);
        return c10::IValue(Handle(result));
    }
    c10::IValue run(const std::string &path, const char *method, std::vector<c10::IValue> inputs,
                    const Kwargs &kwargs) override
    {
        if (!kwargs.empty()) {
            place(path, method, inputs, kwargs);
        }
        return run(path, method, inputs);
    }
    // Frees the memory kept for the next run, unless a run is active.
    void trim() override
    {
        if (!is_mine() && lock_.try_lock()) {
            taper_session_trim(session_.get());
            lock_.unlock();
        }
    }

    // ---- attributes

    c10::IValue attribute(const std::string &path) override
    {
        const Locked guard(*this);
        return owned(read(path), path);
    }
    bool has_attribute(const std::string &path) override
    {
        const Locked guard(*this);
        return exists(path);
    }
    // Sets an attribute, or adds one. Runs see the new value, because a model with changed attributes is loaded again
    // before its next run.
    void set_attribute(const std::string &path, const c10::IValue &value) override
    {
        const Locked guard(*this);
        write(path, value);
    }
    // Adds an attribute, whose declaration is written to files.
    void add_attribute(const std::string &path, const ClassAttribute &attribute, const c10::IValue &value) override
    {
        const Locked guard(*this);
        const std::string name = type_of(read(path));
        write(join_path(path, attribute.name), value);
        added_[name].push_back(attribute);
    }
    std::vector<Slot> slots(const std::string &path) override
    {
        const Locked guard(*this);
        std::vector<Slot> all;
        const Handle object = read(path);
        const ClassSource *source = find_class(type_of(object));
        const size_t count = taper_value_count(object.get());
        for (size_t i = 0; i < count; i++) {
            const char *field = taper_value_field(object.get(), i);
            const std::string name = field != nullptr ? field : std::to_string(i);
            if (!is_hidden(path, name)) {
                all.push_back(slot(path, name, item_of(object, i), source, type_of(object)));
            }
        }
        return all;
    }
    // Returns the class of a module, or null if the file has no sources.
    std::shared_ptr<const ClassSource> class_at(const std::string &path) override
    {
        const Locked guard(*this);
        const ClassSource *source = find_class(type_of(read(path)));
        return source != nullptr ? std::shared_ptr<const ClassSource>(classes_, source) : nullptr;
    }
    bool is_module(const std::string &path) override
    {
        const Locked guard(*this);
        return is_module_type(type_of(read(path)));
    }
    std::string class_name(const std::string &path) override
    {
        const Locked guard(*this);
        return type_of(read(path));
    }

    // ---- methods

    std::vector<std::string> methods(const std::string &path) override
    {
        std::vector<std::string> names;
        const std::shared_ptr<const ClassSource> source = class_at(path);
        if (source != nullptr) {
            for (const ClassMethod &each : source->methods) {
                names.push_back(each.name);
            }
        } else if (path.empty()) {
            const Locked guard(*this);
            const size_t count = taper_model_method_count(model_.get());
            for (size_t i = 0; i < count; i++) {
                names.emplace_back(taper_model_method_name(model_.get(), i));
            }
        }
        return names;
    }
    c10::FunctionSchema schema(const std::string &path, const char *method) override
    {
        const std::shared_ptr<const ClassSource> source = class_at(path);
        const ClassMethod *found = source != nullptr ? source->method(method) : nullptr;
        if (found != nullptr) {
            return c10::parse_signature(method, found->signature);
        }
        const Locked guard(*this);
        const int count = path.empty() ? taper_model_method_arguments(model_.get(), method) : -1;
        if (count < 0) {
            throw c10::Error(std::string("the file has no schema of method ") + method);
        }
        std::vector<c10::Argument> arguments, returns;
        const char *const module = taper_model_name(model_.get());
        arguments.emplace_back("self", c10::Type::of(module != nullptr ? module : "Any"));
        for (size_t i = 0; i < static_cast<size_t>(count); i++) {
            const char *const name = taper_model_argument_name(model_.get(), method, i);
            const char *const type = taper_model_argument_text(model_.get(), method, i);
            arguments.emplace_back(name != nullptr ? name : "", c10::Type::of(type != nullptr ? type : "Any"));
        }
        const char *const type = taper_model_return_text(model_.get(), method);
        returns.emplace_back("", c10::Type::of(type != nullptr ? type : "Any"));
        return c10::FunctionSchema(method, std::move(arguments), std::move(returns));
    }
    // Returns the graph that a run of the method executes, in Taper's spelling.
    std::string graph(const std::string &path, const char *method) override
    {
        if (!path.empty()) {
            return child(path)->graph("", method);
        }
        const Locked guard(*this);
        renew();
        std::string text;
        ErrorScope error;
        error.check(taper_inspect_graph(
            model_.get(), method,
            [](void *user, const char *part, size_t size) { (void)append_to_string(user, part, size); }, &text, error));
        return text;
    }

    // ---- the whole model

    std::string name() override
    {
        const Locked guard(*this);
        const char *text = taper_model_name(model_.get());
        return text != nullptr ? text : "";
    }
    int64_t operator_version() override
    {
        const Locked guard(*this);
        return taper_model_operator_version(model_.get());
    }
    std::vector<std::string> operators() override
    {
        const Locked guard(*this);
        std::vector<std::string> all;
        const size_t count = taper_model_operator_count(model_.get());
        for (size_t i = 0; i < count; i++) {
            all.emplace_back(taper_model_operator_name(model_.get(), i));
        }
        return all;
    }
    int64_t bytecode_version() override
    {
        const Locked guard(*this);
        return taper_model_bytecode_version(model_.get());
    }
    // Sets the training mode of a module and of the modules below it. A model that was saved in training mode is loaded
    // again in the other mode if it has not run yet or has no sources. Otherwise the attributes `training` change.
    // Throws if a model without sources was saved in evaluation mode, because its training mode is then unknown.
    void train(const std::string &path, bool on) override
    {
        const Locked guard(*this);
        const bool loads = path.empty() && is_trained_ && !is_changed_;
        if (loads && (!has_run_ || !has_code())) {
            if ((taper_model_is_training(model_.get()) != 0) != on) {
                open(!on);
            }
        } else if (has_code()) {
            set_training(path, on);
        } else if (on && exists("training") && !c10::IValue(read("training")).toBool()) {
            throw c10::NotImplementedError("a module that was saved in evaluation mode has no training mode here");
        }
    }
    // Fills in the extra files of the model whose names are requested.
    void extra_files(ExtraFiles &files) override
    {
        for (auto &file : files) {
            const size_t count = taper_model_extra_count(model_.get());
            for (size_t i = 0; i < count; i++) {
                if (file.first == taper_model_extra_name(model_.get(), i)) {
                    const void *data = nullptr;
                    size_t size = 0;
                    ErrorScope error;
                    error.check(taper_model_extra(model_.get(), file.first.c_str(), &data, &size, error));
                    file.second.assign(static_cast<const char *>(data), size);
                }
            }
        }
    }
    // Returns a model whose root is the module at `path`. The new model has copies of the attributes.
    std::shared_ptr<LoadedModel> copy(const std::string &path) override
    {
        if (!path.empty()) {
            return std::make_shared<ModelOf>(part(path));
        }
        const std::shared_ptr<ModelOf> made(new ModelOf);
        const Locked guard(*this);
        taper_session *session = nullptr;
        ErrorScope error;
        error.check(taper_session_copy(session_.get(), &session, error));
        made->source_ = source_;
        made->model_ = model_;
        made->session_.reset(session);
        DefaultGenerator::get().serve(session);
        made->is_trained_ = is_trained_;
        made->is_changed_ = is_changed_;
        made->has_run_ = has_run_;
        made->classes_ = classes_;
        made->added_ = added_;
        made->is_frozen_ = is_frozen_;
        made->shown_ = shown_;
        return made;
    }
    // Hides all attributes and methods except the preserved ones, as after torch::jit::freeze.
    void freeze(const std::vector<std::string> &preserved) override
    {
        const Locked guard(*this);
        is_frozen_ = true;
        shown_ = std::set<std::string>(preserved.begin(), preserved.end());
    }
    bool shows(const std::string &name) override
    {
        const Locked guard(*this);
        return !is_hidden("", name);
    }

    // ---- saving

    // Writes a TorchScript archive of a module with its present attributes.
    void save(const std::string &path, const std::string &folder, const ExtraFiles &extras,
              const ByteSink &sink) override
    {
        const Locked guard(*this);
        write_archive(path, folder, extras, sink);
    }
    // Writes a file for the lite interpreter.
    void save_lite(const std::string &path, const ExtraFiles &extras, bool debug_info, bool flatbuffer,
                   const ByteSink &sink) override
    {
        std::string bytes;
        save(path, "archive", extras, string_sink(bytes));
        taper_load_options options;
        std::memset(&options, 0, sizeof options);
        options.struct_size = sizeof options;
        options.compiler = taper_compiler();
        taper_draft *draft = nullptr;
        ErrorScope error;
        error.check(taper_draft_load_memory(context(), bytes.data(), bytes.size(), &options, &draft, error));
        const std::unique_ptr<taper_draft, ReleaseDraft> owner(draft);
        taper_save_options how;
        std::memset(&how, 0, sizeof how);
        how.struct_size = sizeof how;
        how.debug_info = debug_info && !flatbuffer ? 1 : 0;
        how.flatbuffer = flatbuffer ? 1 : 0;
        error.check(taper_draft_save(draft, &how, sink.write, sink.user, error));
    }

  private:
    ModelOf() = default; // makes an empty object, which copy() fills

    struct ReleaseDraft {
        void operator()(taper_draft *draft) const
        {
            taper_draft_release(draft);
        }
    };
    struct DestroySession {
        void operator()(taper_session *session) const
        {
            taper_session_destroy(session);
        }
    };

    bool is_mine() const
    {
        return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
    }
    // Locks the session. If a module calls an operator of the app and the operator calls this module, the second call
    // throws, because it would otherwise wait forever.
    class Locked
    {
      public:
        explicit Locked(ModelOf &model) : model_(model)
        {
            if (model.is_mine()) {
                throw c10::Error("the module is running: what it calls cannot use it");
            }
            model.lock_.lock();
            model.owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
        }
        ~Locked()
        {
            model_.owner_.store(std::thread::id(), std::memory_order_relaxed);
            model_.lock_.unlock();
        }
        Locked(const Locked &) = delete;
        Locked &operator=(const Locked &) = delete;

      private:
        ModelOf &model_;
    };

    // ---- all functions below are called with the lock held, or from the constructor

    void open(bool evaluation)
    {
        const std::shared_ptr<taper_model> model(source_.load(evaluation), taper_model_release);
        taper_session *session = nullptr;
        ErrorScope error;
        error.check(taper_session_create(model.get(), nullptr, &session, error));
        session_.reset(session);
        DefaultGenerator::get().serve(session);
        model_ = model;
        has_run_ = false;
        children_.clear();
    }
    // Makes the next run record for gradients if an input requires a gradient. The first such run loads the model
    // again, with the present attributes, because the optimizer must then leave operators as they are.
    void record(const std::vector<taper_value *> &inputs)
    {
        const bool records = records_now() && std::any_of(inputs.begin(), inputs.end(), [](const taper_value *each) {
                                 return requires_gradient(each);
                             });
        if (records && !source_.gradients) {
            const bool evaluation = is_trained_ && taper_model_is_training(model_.get()) == 0;
            const bool writes = has_run_ && has_code();
            if (writes) {
                use_present_attributes();
            }
            source_.gradients = true;
            open(evaluation && !writes);
        }
        if (source_.gradients) {
            ErrorScope error;
            error.check(taper_session_record(session_.get(), c10::detail::autograd_modes().grad ? 1 : 0, error));
        }
    }
    void use_present_attributes()
    {
        const std::shared_ptr<std::string> bytes = written("");
        source_.path.clear();
        source_.adapter.reset();
        source_.bytes = bytes;
    }
    // Loads the model again if its attributes were changed.
    void renew()
    {
        if (is_changed_) {
            use_present_attributes();
            open(false);
            is_trained_ = taper_model_is_training(model_.get()) != 0;
            is_changed_ = false;
            classes_.reset();
            added_.clear();
        }
    }
    // Returns the model whose root is the module at `path`. The returned model has copies of the attributes.
    std::shared_ptr<ModelOf> child(const std::string &path)
    {
        const Locked guard(*this);
        std::shared_ptr<ModelOf> &kept = children_[path];
        if (kept == nullptr) {
            try {
                kept = std::make_shared<ModelOf>(source_of(path));
            } catch (...) {
                children_.erase(path);
                throw;
            }
        }
        return kept;
    }
    ModelSource part(const std::string &path)
    {
        const Locked guard(*this);
        return source_of(path);
    }
    ModelSource source_of(const std::string &path)
    {
        ModelSource source;
        source.bytes = written(path);
        source.device = source_.device;
        return source;
    }

    Handle read(const std::string &path)
    {
        taper_value *value = nullptr;
        ErrorScope error;
        error.check(taper_session_attribute(session_.get(), path.c_str(), &value, error));
        return Handle(value);
    }
    bool exists(const std::string &path)
    {
        taper_value *value = nullptr;
        const bool found = taper_session_attribute(session_.get(), path.c_str(), &value, nullptr) == TAPER_OK;
        taper_value_release(value);
        return found && !is_hidden("", path.substr(0, path.find('.')));
    }
    void write(const std::string &path, const c10::IValue &value)
    {
        if (!has_code()) {
            throw c10::NotImplementedError("the attribute " + path +
                                           " cannot be set: the file of the module has no TorchScript sources");
        }
        const Handle made = value.isNone() ? make_value(taper_value_none) : value.handle();
        ErrorScope error;
        error.check(taper_session_set_attribute(session_.get(), path.c_str(), made.get(), error));
        is_changed_ = true;
        children_.clear();
    }
    void set_training(const std::string &path, bool on)
    {
        const Handle object = read(path);
        const size_t count = taper_value_count(object.get());
        for (size_t i = 0; i < count; i++) {
            const char *field = taper_value_field(object.get(), i);
            const Handle item = item_of(object, i);
            if (field != nullptr && std::string(field) == "training" && item.kind() == TAPER_KIND_BOOL) {
                if (c10::IValue(item).toBool() != on) {
                    write(join_path(path, field), c10::IValue(on));
                }
            } else if (field != nullptr && item.kind() == TAPER_KIND_OBJECT && is_module_type(type_of(item))) {
                set_training(join_path(path, field), on);
            }
        }
    }
    c10::IValue owned(Handle value, const std::string &path)
    {
        if (value.kind() == TAPER_KIND_OBJECT) {
            return c10::IValue(c10::make_intrusive<c10::ivalue::Object>(value, this->shared_from_this(), path));
        }
        return c10::IValue(std::move(value));
    }
    bool is_hidden(const std::string &path, const std::string &name) const
    {
        return is_frozen_ && path.empty() && shown_.count(name) == 0 && name != "forward" && !name.empty();
    }
    Slot slot(const std::string &path, const std::string &name, Handle item, const ClassSource *source,
              const std::string &class_name)
    {
        const bool is_tensor = item.kind() == TAPER_KIND_TENSOR, is_object = item.kind() == TAPER_KIND_OBJECT;
        const ClassAttribute *declared = source != nullptr ? source->find(name) : nullptr;
        const auto added = added_.find(class_name);
        if (declared == nullptr && added != added_.end()) {
            for (const ClassAttribute &each : added->second) {
                declared = each.name == name ? &each : declared;
            }
        }
        Slot made = {name,
                     owned(item, join_path(path, name)),
                     declared != nullptr ? declared->type : type_of(item),
                     false,
                     false,
                     is_object && is_module_type(type_of(item))};
        if (declared != nullptr) {
            made.is_parameter = declared->is_parameter;
            made.is_buffer = declared->is_buffer;
        } else if (is_tensor && source == nullptr) { // a file without sources
            taper_tensor_info info;
            info.struct_size = sizeof info;
            made.is_parameter = taper_value_get_tensor(item.get(), &info, nullptr) == TAPER_OK && info.requires_grad;
            made.is_buffer = !made.is_parameter;
        }
        return made;
    }

    static std::string type_of(const Handle &value)
    {
        return c10::IValue(value).type()->annotation_str();
    }
    const ClassSource *find_class(const std::string &name)
    {
        const auto found = classes().find(name);
        return found != classes().end() ? &found->second : nullptr;
    }
    bool is_module_type(const std::string &name)
    {
        const ClassSource *source = find_class(name);
        return source != nullptr ? source->is_module : classes().empty() && name.find("__torch__.torch.classes.") != 0;
    }
    bool has_code()
    {
        return !classes().empty();
    }
    const ClassTable &classes()
    {
        if (!classes_) {
            const std::shared_ptr<ClassTable> table = std::make_shared<ClassTable>();
            taper_archive_reader *opened = nullptr;
            if (taper_archive_reader_open_model(model_.get(), &opened, nullptr) == TAPER_OK) {
                const ArchiveReader reader(opened);
                for (size_t i = 0; i < reader.size(); i++) {
                    const std::string prefix = ClassReader<ClassTable>::prefix_of(reader.name(i));
                    if (!prefix.empty()) {
                        const std::string text = reader.record(i);
                        ClassReader<ClassTable>(prefix, text, *table);
                    }
                }
            }
            classes_ = table;
        }
        return *classes_;
    }

    std::shared_ptr<std::string> written(const std::string &path)
    {
        const std::shared_ptr<std::string> bytes = std::make_shared<std::string>();
        write_archive(path, "archive", ExtraFiles(), string_sink(*bytes));
        return bytes;
    }
    void write_archive(const std::string &path, const std::string &folder, const ExtraFiles &extras,
                       const ByteSink &sink)
    {
        if (!has_code()) {
            throw c10::NotImplementedError("the module cannot be written: its file has no TorchScript sources");
        }
        taper_archive_reader *opened = nullptr;
        ErrorScope error;
        error.check(taper_archive_reader_open_model(model_.get(), &opened, error));
        const ArchiveReader reader(opened);
        ArchiveWriter writer(folder, sink);
        writer.extra_files(extras);
        writer.session("data", session_.get(), path);
        for (size_t i = 0; i < reader.size(); i++) {
            const std::string name = reader.name(i);
            if (name.compare(0, 5, "code/") == 0) {
                writer.record(name, with_added(name, reader.record(i)));
            } else if (name == "version" || name == ".data/version" || name == "byteorder" || name == "constants.pkl" ||
                       name.compare(0, 10, "constants/") == 0) {
                writer.record(name, reader.record(i));
            }
        }
        writer.finish();
    }
    std::string with_added(const std::string &record, std::string text) const
    {
        const std::string prefix = ClassReader<ClassTable>::prefix_of(record);
        for (const auto &each : added_) {
            const size_t dot = each.first.find_last_of('.');
            if (!prefix.empty() && each.first.substr(0, dot) == prefix) {
                text = add_attributes(text, each.first.substr(dot + 1), each.second);
            }
        }
        return text;
    }

    // Puts keyword arguments at their places in the method's schema, and fills the missing places before these
    // arguments with defaults.
    void place(const std::string &path, const char *method, std::vector<c10::IValue> &inputs, const Kwargs &kwargs)
    {
        const c10::FunctionSchema all = schema(path, method);
        for (size_t placed = 0; placed < kwargs.size();) {
            const size_t index = inputs.size() + 1; // self is the first argument
            const c10::Argument *argument = index < all.arguments().size() ? &all.arguments()[index] : nullptr;
            const auto found = argument != nullptr ? kwargs.find(argument->name()) : kwargs.end();
            if (found != kwargs.end()) {
                inputs.push_back(found->second);
                placed++;
            } else if (argument != nullptr && argument->default_value().has_value()) {
                inputs.push_back(*argument->default_value());
            } else {
                throw c10::Error(c10::str(method, "() has no argument for one of those given by name: '",
                                          kwargs.begin()->first, "'"));
            }
        }
    }

    std::mutex lock_;
    std::atomic<std::thread::id> owner_{std::thread::id()};
    ModelSource source_;
    std::shared_ptr<taper_model> model_;
    std::unique_ptr<taper_session, DestroySession> session_;
    std::shared_ptr<const ClassTable> classes_;                // null until needed
    std::map<std::string, std::vector<ClassAttribute>> added_; // attributes that the sources do not have, by class
    std::map<std::string, std::shared_ptr<ModelOf>> children_;
    std::set<std::string> shown_; // names that remain visible after the model is frozen
    bool is_trained_ = false;     // true if the file was saved in training mode
    bool is_changed_ = false;     // true if attributes were set since the model was loaded
    bool has_run_ = false, is_frozen_ = false;
};

template <class Source> std::shared_ptr<LoadedModel> make_model(Source source)
{
    return std::make_shared<ModelOf<LoadedModel>>(std::move(source));
}

} // namespace cpp
} // namespace taper

#endif
