# SPDX-License-Identifier: BSD-2-Clause
"""C as text: tokens, the names that a file declares outside functions, and renaming. It supports the style of this project: macro names in
capitals, and the braces of functions in the first column."""
import re

TOKEN = re.compile(r"""
    (?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<line>(?<![^\n])[ \t]*\#(?:[^\n\\/]|\\(?:.|\n)|/(?!\*)|/\*.*?\*/)*)   # of the preprocessor
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<space>\s+)
  | (?P<mark>->|\.\.\.|.)""", re.S | re.X)
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)")
OBJECT_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(?!\()\b")
KEYWORDS = set("_Atomic _Bool bool char const double extern float for if inline int long return short signed sizeof static unsigned void while"
               .split())
STATIC = re.compile(r"\bstatic\b[^;{}()=]*?(?:\(\s*\*\s*(?:const\s+)?)?\b(?!(?:%s)\b)(\w+)\s*[(\[=;]" % "|".join(sorted(KEYWORDS)))
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")


def tokens(text):
    """Returns [(kind, text)]; the joined texts are the input."""
    return [(m.lastgroup, m.group()) for m in TOKEN.finditer(text)]


def statics(text):
    """Returns the names of static functions and objects in a preprocessed text, also inside functions. Names that begin with an underscore
    belong to the compiler's own headers and are omitted."""
    return {name for name in STATIC.findall(ATTRIBUTE.sub("", text)) if not name.startswith("_")}


def macros(parts, pattern=DEFINE):
    return {m.group(1) for kind, text in parts if kind == "line" for m in [pattern.match(text)] if m}


def names(parts):
    """Returns the names that a file declares outside functions: functions, objects, types, tags, enumerators."""
    words, first = [], True
    for kind, text in parts:
        if kind not in ("comment", "space", "line"):
            words.append((kind, text, first))
        first = text.endswith("\n") or kind == "line"
    found = set()
    _read(words, found)
    return found - KEYWORDS - macros(parts)


def _read(words, found):
    depth, declaration, i = 0, [], 0
    while i < len(words):
        text, first = words[i][1:]
        depth += (text in ("(", "[")) - (text in (")", "]"))
        if depth == 0 and text == "{":
            if first: # the body of a function ends with a brace in the first column; braces inside a function may not match, because several branches of #if may open the same block
                end = next((k for k in range(i, len(words)) if words[k][1] == "}" and words[k][2]), len(words))
            else:
                end = _closing(words, i, "{", "}")
            if _ends_in(declaration, "enum"):
                _read_enumerators(words[i + 1:end], found)
            elif _ends_in(declaration, "struct", "union"):
                _read_members(words[i + 1:end], found)
            elif not declaration or declaration[-1][1] == ")":
                _read_declaration(declaration, found)
                declaration, i = [], end + 1
                continue
            declaration.append(("block", "{}", False))
            i = end
        elif depth == 0 and text == ";":
            _read_declaration(declaration, found)
            declaration = []
        else:
            declaration.append(words[i])
        i += 1


def _closing(words, i, opens, closes):
    depth = 0
    for k in range(i, len(words)):
        depth += (words[k][1] == opens) - (words[k][1] == closes)
        if depth == 0:
            return k
    return len(words)


def _ends_in(words, *keys):
    """Returns true if an opening brace directly after these words begins a struct, union or enum, with or without a tag."""
    return any(word[1] in keys for word in words[-2:]) and words[-1][1] != ")"


def _read_enumerators(words, found):
    for k, (kind, text, _) in enumerate(words):
        if kind == "name" and (k == 0 or words[k - 1][1] == ","):
            found.add(text)


def _read_members(words, found):
    """Reads enumerators of an enum inside a struct, which have the scope of the file."""
    for k, word in enumerate(words):
        if word[1] == "{" and _ends_in(words[max(0, k - 3):k] or [word], "enum"):
            _read_enumerators(words[k + 1:_closing(words, k, "{", "}")], found)


def _read_declaration(words, found):
    words = _without_macros(words)
    for k in range(len(words) - 2):
        if words[k][1] in ("struct", "union", "enum") and words[k + 2][0] == "block":
            found.add(words[k + 1][1])
    if not words:
        return
    if words[0][1] == "typedef":
        found.add(_typedef_name(words))
        return
    depth, value = 0, False
    for k, (kind, text, _) in enumerate(words):
        if depth == 0 and text == "=":
            value = True
        elif depth == 0 and text == ",":
            value = False
        elif kind == "name" and depth == 0 and k > 0 and not value:
            after = words[k + 1][1] if k + 1 < len(words) else ";"
            if after in ("=", "[", ";", ",", "(") and words[k - 1][1] not in ("struct", "enum", "union"):
                if not (text.isupper() and after == "("):
                    found.add(text)
                if after == "(": # after the opening parenthesis a function's declaration has only names of parameters
                    return
        # names of pointers to functions: (*name)(…), (*const name[])(…)
        if text == "(" and depth == 0 and k + 3 < len(words) and words[k + 1][1] == "*":
            found.add(words[k + (3 if words[k + 2][1] == "const" else 2)][1])
        depth += (text in ("(", "[")) - (text in (")", "]"))


def _typedef_name(words):
    for k in range(len(words) - 2):
        if words[k][1] == "(" and words[k + 1][1] == "*":
            return words[k + 2][1]
    depth, last = 0, ""
    for kind, text, _ in words:
        depth += (text in ("(", "[")) - (text in (")", "]"))
        if kind == "name" and depth == 0:
            last = text
    return last


def _without_macros(words):
    """Returns a declaration without attributes, without assertions, and without macros that stand for attributes or precede the declaration."""
    out, i = [], 0
    while i < len(words):
        kind, text, _ = words[i]
        called = i + 1 < len(words) and words[i + 1][1] == "("
        if text == "_Static_assert":
            return []
        if called and (text in ("__attribute__", "_Alignas", "__asm__") or (kind == "name" and text.isupper() and len(text) > 1 and not out)):
            i = _closing(words, i + 1, "(", ")")
        elif kind != "name" or called or not text.isupper() or not text.startswith("TAPER_"):
            out.append(words[i])
        i += 1
    return out


def rename(parts, new):
    """Returns the text with names replaced, also in the bodies of macros. Members of structs keep their names."""
    out, braces, last = [], [], [""] * 6
    for i, (kind, text) in enumerate(parts):
        if kind == "line":
            out.append(_rename_define(text, new) if DEFINE.match(text) else text)
            continue
        if kind in ("comment", "space"):
            out.append(text)
            continue
        if kind == "name" and text in new:
            after = next((t for k, t in parts[i + 1:i + 6] if k not in ("comment", "space", "line")), "")
            declared = braces[-1:] == ["struct"] and after in (";", ",", "[", ":", ")")
            offset = last[-4:-2] == ["offsetof", "("] and last[-1] == ","
            out.append(text if declared or offset or last[-1] in (".", "->") else new[text])
        else:
            out.append(text)
        if text == "{":
            braces.append("struct" if last[-1] != ")" and {"struct", "union"} & set(last[-2:]) else "block")
        elif text == "}" and braces:
            braces.pop()
        last = last[1:] + [text]
    return "".join(out)


def _rename_define(line, new):
    out, before = [], ""
    for kind, text in tokens(line.replace("#", "@", 1)):
        out.append(new[text] if kind == "name" and text in new and before not in (".", "->", "#") else text)
        before = text if kind not in ("space", "comment") else before
    return "".join(out).replace("@", "#", 1)
