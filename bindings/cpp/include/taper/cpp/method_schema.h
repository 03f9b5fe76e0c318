/* SPDX-License-Identifier: BSD-2-Clause */
// c10::FunctionSchema: the arguments and results of a module's method, with self first.
#ifndef TAPER_CPP_METHOD_SCHEMA_H
#define TAPER_CPP_METHOD_SCHEMA_H

#include <string>
#include <vector>

#include <taper/cpp/type.h>

namespace c10
{

class Argument
{
  public:
    Argument(std::string name, TypePtr type) : name_(std::move(name)), type_(std::move(type))
    {
    }
    const std::string &name() const
    {
        return name_;
    }
    const TypePtr &type() const
    {
        return type_;
    }

  private:
    std::string name_;
    TypePtr type_;
};

class FunctionSchema
{
  public:
    FunctionSchema(std::string name, std::vector<Argument> arguments, std::vector<Argument> returns)
        : name_(std::move(name)), arguments_(std::move(arguments)), returns_(std::move(returns))
    {
    }
    const std::string &name() const
    {
        return name_;
    }
    const std::vector<Argument> &arguments() const
    {
        return arguments_;
    }
    const std::vector<Argument> &returns() const
    {
        return returns_;
    }

  private:
    std::string name_;
    std::vector<Argument> arguments_, returns_;
};

} // namespace c10

namespace torch
{
namespace jit
{
using c10::FunctionSchema;

// The members of PyTorch's class Function that apps use: the name and the schema of a method.
class Function
{
  public:
    explicit Function(c10::FunctionSchema schema) : schema_(std::move(schema))
    {
    }
    const c10::FunctionSchema &getSchema() const
    {
        return schema_;
    }
    const std::string &name() const
    {
        return schema_.name();
    }
    size_t num_inputs() const
    {
        return schema_.arguments().size();
    }

  private:
    c10::FunctionSchema schema_;
};
namespace mobile
{
using Function = torch::jit::Function;
}
} // namespace jit
} // namespace torch

#endif
