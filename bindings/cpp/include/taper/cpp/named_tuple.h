/* SPDX-License-Identifier: BSD-2-Clause */
// c10::NamedTupleType: the type of a tuple whose fields have names.
#include <taper/cpp/method_schema.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_NAMED_TUPLE_H
#define TAPER_CPP_NAMED_TUPLE_H

namespace c10
{

// The type of a tuple whose fields have names. The type's text is its name.
class NamedTupleType final : public TupleType
{
  public:
    NamedTupleType(const QualifiedName &name, std::vector<std::string> fields, std::vector<TypePtr> types,
                   std::vector<IValue> defaults)
        : TupleType(name.qualifiedName(), TypeKind::TupleType), fields_(std::move(fields)), types_(std::move(types)),
          defaults_(std::move(defaults))
    {
    }
    std::shared_ptr<FunctionSchema> schema() const override
    {
        std::vector<Argument> all;
        const size_t first = fields_.size() - defaults_.size();
        for (size_t i = 0; i < fields_.size(); i++) {
            all.emplace_back(fields_[i], types_[i], nullopt,
                             i >= first ? optional<IValue>(defaults_[i - first]) : optional<IValue>());
        }
        return std::make_shared<FunctionSchema>(QualifiedName(annotation_str()).name(), std::string(), std::move(all),
                                                std::vector<Argument>());
    }
    optional<std::vector<string_view>> names() const override
    {
        return std::vector<string_view>(fields_.begin(), fields_.end());
    }

  protected:
    std::vector<TypePtr> contained() const override
    {
        return types_;
    }

  private:
    std::vector<std::string> fields_;
    std::vector<TypePtr> types_;
    std::vector<IValue> defaults_;
};
template <class Text, class Values>
TupleTypePtr TupleType::createNamed(const optional<QualifiedName> &name, const std::vector<Text> &fields,
                                    const std::vector<TypePtr> &types, const Values &defaults)
{
    if (fields.size() != types.size() || defaults.size() > fields.size()) {
        throw Error("a named tuple needs a type for each name, and at most as many defaults");
    }
    return std::make_shared<NamedTupleType>(name.value_or(QualifiedName("NamedTuple")),
                                            std::vector<std::string>(fields.begin(), fields.end()), types, defaults);
}

} // namespace c10

#endif
