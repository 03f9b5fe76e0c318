// SPDX-License-Identifier: BSD-2-Clause
// The types that methods declare, read from the library (taper_type of taper.h), and the range of a model's integers.

const UNKNOWN = {name: '', text: undefined, items: []};

// Names of the kinds of types, indexed by taper_type_kind.
const NAMES = ['Any', 'NoneType', 'Tensor', 'int', 'float', 'bool', 'complex', 'number', 'str', 'Device', 'Generator', 'opaque', 'list', 'tuple',
    'List', 'Optional', 'Future', 'Dict', 'Tuple', 'Union', 'class', 'variable'];

/**
 * Returns an object such as {name: 'List', text: 'List[int]', items: [the object for int]}. `type` is the address of
 * the type in the module's memory, and textOf(type) is the type's text. Address 0 gives the unknown type.
 */
export function typeOf(exports, type, textOf) {
    if (!type) {
        return UNKNOWN;
    }
    const items = Array.from({length: exports.taper_type_count(type)}, (_, i) =>
        typeOf(exports, exports.taper_type_item(type, i), textOf));
    return {name: NAMES[exports.taper_type_kind_of(type)] ?? '', text: textOf(type), items};
}

/** Returns the unknown type, which has no name. */
export const unknownType = () => UNKNOWN;

/** Returns item i of a type, or the unknown type if it has none. */
export const itemOf = (type, i) => type.items[i] ?? UNKNOWN;

/** Returns true if the bigint fits into an int of a model, which has 64 bits. */
export const isInt64 = whole => BigInt.asIntN(64, whole) === whole;
