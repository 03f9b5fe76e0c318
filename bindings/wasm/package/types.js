// SPDX-License-Identifier: BSD-2-Clause
// The types that methods declare, "Dict[str, List[Optional[int]]]", taken apart; and the integers that models have.

const UNKNOWN = {name: '', text: undefined, items: []};
const parsed = new Map(); // texts, which come from the files of the models at hand
const MOST_PARSED = 1000;

// The places of the commas and brackets of the outermost level of "NAME[a, b]": where its arguments begin and end.
function argumentsOf(text) {
    const open = text.indexOf('[');
    if (open < 0 || !text.endsWith(']')) {
        return [text, []];
    }
    const found = [];
    let depth = 0, begin = open + 1;
    for (let at = begin; at < text.length; at++) {
        const c = text[at];
        if (at === text.length - 1 || (c === ',' && depth === 0)) {
            found.push(text.slice(begin, at).trim());
            begin = at + 1;
        } else if (c === '[' || c === '(') {
            depth++;
        } else if (c === ']' || c === ')') {
            depth--;
        }
    }
    return [text.slice(0, open), found.filter(argument => argument !== '' && argument !== '()')]; // Tuple[()] is empty
}

/** {name: 'List', text: 'List[int]', items: the types of its arguments}; of no text a type that says nothing. */
export function typeOf(text) {
    if (text === undefined || text === '') {
        return UNKNOWN;
    }
    let type = parsed.get(text);
    if (type === undefined) {
        const [name, items] = argumentsOf(text.trim());
        type = {name, text, items: items.map(typeOf)};
        if (parsed.size >= MOST_PARSED) {
            parsed.clear();
        }
        parsed.set(text, type);
    }
    return type;
}

/** Item i of a type; one that says nothing where there is none. */
export const itemOf = (type, i) => type.items[i] ?? UNKNOWN;

/** Whether an int of a model, which has 64 bits, can be that bigint. */
export const isInt64 = whole => BigInt.asIntN(64, whole) === whole;
