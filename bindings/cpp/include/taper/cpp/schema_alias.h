/* SPDX-License-Identifier: BSD-2-Clause */
// Which arguments and results of a schema may share memory. The functions are templates, so that only programs that
// call them compile them.
#ifndef TAPER_CPP_SCHEMA_ALIAS_H
#define TAPER_CPP_SCHEMA_ALIAS_H

#include <taper/cpp/method_schema.h>

namespace c10
{

template <class Unused> optional<AliasTypeSet> FunctionSchema::mapTypeToAliasTypeSet(const TypePtr &type) const
{
    AliasTypeSet inside;
    switch (type->kind()) {
    case TypeKind::TensorType:
    case TypeKind::ListType:
    case TypeKind::DictType:
    case TypeKind::ClassType:
    case TypeKind::AnyType:
        return AliasTypeSet{type};
    case TypeKind::OptionalType:
    case TypeKind::UnionType:
    case TypeKind::TupleType:
    case TypeKind::FutureType:
        for (const TypePtr &each : type->containedTypes()) {
            const optional<AliasTypeSet> found = mapTypeToAliasTypeSet(each);
            if (found.has_value()) {
                inside.insert(inside.end(), found->begin(), found->end());
            }
        }
        break;
    default:
        break;
    }
    if (inside.empty()) {
        return nullopt;
    }
    if (type->kind() == TypeKind::TupleType) {
        return AliasTypeSet{TupleType::create(inside)};
    }
    return type->kind() == TypeKind::FutureType ? AliasTypeSet{FutureType::create(inside.front())} : inside;
}
template <class Unused>
bool FunctionSchema::canAliasTypeSetsAlias(const optional<AliasTypeSet> &a, const optional<AliasTypeSet> &b) const
{
    if (!a.has_value() || !b.has_value()) {
        return false;
    }
    for (const TypePtr &mine : *a) {
        for (const TypePtr &other : *b) {
            if (*mine == *other) {
                return true;
            }
        }
    }
    return false;
}
template <class Unused>
optional<AliasTypeSet> FunctionSchema::getAliasTypeSetContainedTypes(const optional<AliasTypeSet> &types) const
{
    if (!types.has_value()) {
        return nullopt;
    }
    AliasTypeSet all, waiting;
    for (const TypePtr &each : *types) {
        const std::vector<TypePtr> inside = each->containedTypes();
        waiting.insert(waiting.end(), inside.begin(), inside.end());
    }
    while (!waiting.empty()) {
        const TypePtr last = waiting.back();
        waiting.pop_back();
        const std::vector<TypePtr> inside = last->containedTypes();
        waiting.insert(waiting.end(), inside.begin(), inside.end());
        if (!canAliasTypeSetsAlias(all, AliasTypeSet{last})) {
            all.push_back(last);
        }
    }
    return all;
}
template <class Unused> bool FunctionSchema::may_alias(const SchemaArgument &a, const SchemaArgument &b) const
{
    const AliasInfo *const mine = listed(a).alias_info(), *const other = listed(b).alias_info();
    if (mine == nullptr || other == nullptr ||
        !canAliasTypeSetsAlias(mapTypeToAliasTypeSet(listed(a).type()), mapTypeToAliasTypeSet(listed(b).type()))) {
        return false;
    }
    for (const Symbol &each : mine->afterSets()) {
        if (other->afterSets().count(each) != 0) {
            return true;
        }
    }
    return false;
}
template <class Unused>
bool FunctionSchema::may_contain_alias(const SchemaArgument &a, const SchemaArgument &b, bool bidirectional) const
{
    if (may_alias(a, b)) {
        return true;
    }
    const auto types = [this](const SchemaArgument &of) { return mapTypeToAliasTypeSet(listed(of).type()); };
    const auto inside = [&](const SchemaArgument &of) { return getAliasTypeSetContainedTypes(types(of)); };
    // Returns true if `one` may be any memory ("*"), and a value inside `container` may have the type of `one`.
    const auto is_inside = [&](const SchemaArgument &one, const SchemaArgument &container) {
        const AliasInfo *const info = listed(one).alias_info();
        return info != nullptr && info->isWildcardAfter() && canAliasTypeSetsAlias(types(one), inside(container));
    };
    return (bidirectional && is_inside(a, b)) || is_inside(b, a) || canAliasTypeSetsAlias(inside(a), inside(b));
}

} // namespace c10

#endif
