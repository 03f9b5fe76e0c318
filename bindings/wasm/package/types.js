// SPDX-License-Identifier: BSD-2-Clause
// The types that methods declare, as the library tells them (taper_type of taper.h); and the integers that models have.

const UNKNOWN = {name: '', text: undefined, items: []};

// By the numbers of taper_type_kind.
const NAMES = ['Any', 'NoneType', 'Tensor', 'int', 'float', 'bool', 'complex', 'number', 'str', 'Device', 'Generator', 'opaque', 'list', 'tuple',
    'List', 'Optional', 'Future', 'Dict', 'Tuple', 'Union', 'class', 'variable'];

/**
 * {name: 'List', text: 'List[int]', items: the types of its arguments}. `type` is an address in the module's memory, textOf(type) its text; of
 * no type this is one that says nothing.
 */
export function typeOf(exports, type, textOf) {
    if (!type) {
        return UNKNOWN;
    }
    const items = Array.from({length: exports.taper_type_count(type)}, (_, i) =>
        typeOf(exports, exports.taper_type_item(type, i), textOf));
    return {name: NAMES[exports.taper_type_kind_of(type)] ?? '', text: textOf(type), items};
}

/** The type that says nothing. */
export const unknownType = () => UNKNOWN;

/** Item i of a type; one that says nothing where there is none. */
export const itemOf = (type, i) => type.items[i] ?? UNKNOWN;

/** Whether an int of a model, which has 64 bits, can be that bigint. */
export const isInt64 = whole => BigInt.asIntN(64, whole) === whole;
