/* SPDX-License-Identifier: BSD-2-Clause */
// Objects of classes: modules and instances of TorchScript's other classes.
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_OBJECT_H
#define TAPER_CPP_OBJECT_H

#include <memory>

namespace taper
{
namespace cpp
{
class LoadedModel;
}
} // namespace taper

namespace c10
{
namespace ivalue
{

// An object, and the place where a module has it. An object that is not an attribute of a module (the result of a
// method, an item of a list) has no place: its attributes can be read, but its methods cannot be called.
class Object final : public intrusive_ptr_target
{
  public:
    explicit Object(const taper::cpp::Handle &value) : value_(value)
    {
    }
    Object(const taper::cpp::Handle &value, std::shared_ptr<taper::cpp::LoadedModel> model, std::string path)
        : value_(value), model_(std::move(model)), path_(std::move(path))
    {
    }
    // Returns the qualified name of the class, for example "__torch__.Net".
    std::string name() const
    {
        return IValue(value_).type()->annotation_str();
    }
    TypePtr type() const
    {
        return IValue(value_).type();
    }
    // Returns the attribute `name`. Throws if there is no such attribute.
    IValue getAttr(const std::string &name) const
    {
        const size_t count = taper_value_count(value_.get());
        for (size_t i = 0; i < count; i++) {
            const char *field = taper_value_field(value_.get(), i);
            if (field != nullptr && name == field) {
                return slot(i, name);
            }
        }
        throw Error("the object has no attribute '" + name + "'");
    }
    IValue getSlot(size_t index) const
    {
        const char *field = taper_value_field(value_.get(), index);
        return slot(index, field != nullptr ? field : "");
    }
    std::vector<IValue> slots() const
    {
        std::vector<IValue> all;
        const size_t count = taper_value_count(value_.get());
        for (size_t i = 0; i < count; i++) {
            all.push_back(getSlot(i));
        }
        return all;
    }
    // Sets an attribute of a module; defined in module.h.
    void setAttr(const std::string &name, IValue value) const;

    const taper::cpp::Handle &handle() const
    {
        return value_;
    }
    // model() returns the model that has the object as an attribute, or null if there is no such model. path() returns
    // the path of that attribute; "" is the root.
    const std::shared_ptr<taper::cpp::LoadedModel> &model() const
    {
        return model_;
    }
    const std::string &path() const
    {
        return path_;
    }

  private:
    IValue slot(size_t index, const std::string &name) const
    {
        taper::cpp::Handle item = taper::cpp::item_of(value_, index);
        if (model_ && item.kind() == TAPER_KIND_OBJECT) {
            return IValue(make_intrusive<Object>(item, model_, path_.empty() ? name : path_ + "." + name));
        }
        return IValue(std::move(item));
    }

    taper::cpp::Handle value_;
    std::shared_ptr<taper::cpp::LoadedModel> model_;
    std::string path_;
};

} // namespace ivalue

// The value keeps the Object itself, so that toObject() returns the Object with its place in a module.
inline IValue::IValue(intrusive_ptr<ivalue::Object> object) : IValue(impl::present(object).handle())
{
    object->retain();
    box_.store(object.get(), std::memory_order_release);
}
inline intrusive_ptr<ivalue::Object> IValue::toObject() const
{
    expect(TAPER_KIND_OBJECT, "Object");
    return intrusive_ptr<ivalue::Object>(const_cast<ivalue::Object *>(&boxed<ivalue::Object>()));
}

} // namespace c10

#endif
