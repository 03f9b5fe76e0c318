#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The public names of C++ headers, from the text of clang's syntax tree (-ast-dump). The JSON form of the tree is ten times as large, so it is not
used. The text is read line by line while clang writes it, and everything inside a function's body is skipped."""
import collections
import re
import subprocess
import sys

# kind: type, template (of classes or aliases), function, value (a variable, field or enumerator), method, constructor, conversion. scope: the
# names of the enclosing namespaces and classes; space: the number of namespaces among them. parameters: [(type, has a default)]. templates: the
# template's own parameters; outer: the parameters of the enclosing class templates.
Name = collections.namedtuple("Name", "kind scope space name parameters const static templates outer abstract file")
# bases maps "a::B" to the texts of its public bases; records is the set of classes that are defined.
Found = collections.namedtuple("Found", "names bases records abstract")

HEAD = re.compile(r"([ |`-]*)([A-Za-z]+)(?: 0x[0-9a-f]+)?(.*)")
PLACE = re.compile(r"(?:<|, |> )((?:/|\.)[^:<>\"']*):\d+:\d+")
TAIL = re.compile(r" (?:parent 0x[0-9a-f]+ |prev 0x[0-9a-f]+ )*<.*?> (?:(?:(?:line|col)(?::\d+)+|/\S+?:\d+:\d+|<\S+ ?\S+>:\d+:\d+)(?: |$))?(.*)")
MARKS = re.compile(r"(?:(?:implicit|used|referenced|invalid|constexpr|nested) )*")
TYPED = re.compile(r"(?:(\S.*?) )?'([^']*)'(?::'[^']*')?(.*)")
FUNCTIONS = {"FunctionDecl": "function", "CXXMethodDecl": "method", "CXXConstructorDecl": "constructor", "CXXConversionDecl": "conversion"}
TYPES = {"EnumDecl", "TypedefDecl", "TypeAliasDecl", "TypeAliasTemplateDecl"}
VALUES = {"VarDecl", "FieldDecl", "EnumConstantDecl"}
PARAMETERS = {"TemplateTypeParmDecl", "NonTypeTemplateParmDecl", "TemplateTemplateParmDecl"}


class Scope:
    """A namespace, class or function that encloses the current line. depth: the depth of its own line in the tree."""

    def __init__(self, depth, kind, name="", public=True):
        self.depth, self.kind, self.name, self.public = depth, kind, name, public
        self.templates, self.seen, self.entry = [], 0, None


class Reader:
    def __init__(self, roots):
        self.roots, self.file = roots, ""
        self.scopes = [Scope(0, "space")]
        self.skip = None  # the depth of a declaration whose contents are skipped, or None
        self.found = Found([], {}, set(), set())

    def line(self, text):
        if "/" in text:
            places = PLACE.findall(text)
            if places:
                self.file = places[-1]
        head = HEAD.match(text)
        if head is None or head.group(2) == "TranslationUnitDecl":
            return  # a missing child, or the root
        depth = len(head.group(1)) // 2
        if self.skip is not None:
            if depth > self.skip:
                return
            self.skip = None
        while len(self.scopes) > 1 and self.scopes[-1].depth >= depth:
            self.scopes.pop()
        kind = head.group(2)
        if depth == self.scopes[-1].depth + 1 and self.scopes[-1].kind == "record" and kind in ("public", "protected", "private"):
            self.base(kind, head.group(3))
        elif kind == "AccessSpecDecl":
            self.scopes[-1].public = text.endswith(" public")
        elif kind.endswith("Decl") and depth == self.scopes[-1].depth + 1:
            tail = TAIL.match(head.group(3))
            if tail is not None:
                rest = tail.group(1)
                marks = MARKS.match(rest).group(0)
                self.declaration(kind, depth, marks, rest[len(marks):], " parent 0x" in head.group(3))

    def base(self, access, text):
        types = re.findall(r"'([^']*)'", text)
        if access == "public" and types:
            self.found.bases.setdefault(self.path(), []).append(types[-1])

    def path(self):
        return "::".join(s.name for s in self.scopes if s.kind in ("space", "record") and s.name)

    def declaration(self, kind, depth, marks, rest, elsewhere):
        here = self.scopes[-1]
        self.skip = depth
        if kind == "LinkageSpecDecl":
            self.enter(depth, "link")
        elif kind == "NamespaceDecl":
            name = re.sub(r" ?\b(inline|nested)\b", "", rest)
            if name:
                self.enter(depth, "space", name)
        elif not here.public or "implicit" in marks or elsewhere:
            return
        elif kind in PARAMETERS and here.kind == "template":
            typed = TYPED.match(rest)
            words = rest.split()
            name = typed.group(1) if typed else words[-1] if words[-1] not in ("typename", "class", "...") and "depth" not in words[-1] else ""
            here.templates.append((kind, (name or "").split(" ")[-1]))
        elif kind in ("FunctionTemplateDecl", "ClassTemplateDecl", "VarTemplateDecl"):
            self.enter(depth, "template", rest)
        elif here.kind == "template" and here.seen:
            return  # an instantiation of the template
        elif kind == "CXXRecordDecl":
            self.record(depth, rest)
        elif kind in FUNCTIONS:
            self.function(kind, depth, rest)
        elif kind == "ParmVarDecl" and here.kind == "function":
            typed = TYPED.match(rest)
            here.entry.parameters.append((typed.group(2), " cinit" in typed.group(3)))
        elif kind in VALUES:
            name, text = TYPED.match(rest).group(1, 3)
            here.seen += 1
            if name:
                self.add("value", name, static=kind != "FieldDecl")
        elif kind in TYPES:
            self.type(kind, depth, rest)
        elif kind == "UsingDecl" and here.kind == "space" and self.scopes[-1].name:
            self.add("using", rest.split("::")[-1])

    def enter(self, depth, kind, name="", public=True):
        scope = Scope(depth, kind, name, public)
        self.scopes.append(scope)
        self.skip = None
        return scope

    def record(self, depth, rest):
        words = re.match(r"(class|struct|union) (\S+?)( definition)?$", rest)
        if words is None:
            return
        template = self.scopes[-1] if self.scopes[-1].kind == "template" else None
        if template is not None:
            template.seen += 1
        self.add("template" if template is not None else "type", words.group(2))
        if words.group(3):
            scope = self.enter(depth, "record", words.group(2), words.group(1) != "class")
            if template is not None:
                scope.templates = template.templates
            self.found.records.add(self.path())

    def function(self, kind, depth, rest):
        typed = TYPED.match(rest)
        if self.scopes[-1].kind == "template":
            self.scopes[-1].seen += 1
        signature, flags = typed.group(2, 3)
        if " delete" in flags:
            return
        if " pure" in flags:
            self.found.abstract.add(self.path())
        const = re.search(r"\)( const)?( &{1,2})?( noexcept)?$", signature.split(" -> ")[0])
        qualifiers = ("const" if const and const.group(1) else "") + ((const.group(2) or "") if const else "")
        name = typed.group(1).split("<")[0] if kind == "CXXConstructorDecl" else typed.group(1)
        entry = self.add(FUNCTIONS[kind], name, qualifiers, " static" in flags)
        self.enter(depth, "function").entry = entry

    def type(self, kind, depth, rest):
        if kind == "EnumDecl":
            words = re.match(r"(class |struct )?([A-Za-z_]\w*)?", rest)
            name = words.group(2)
            if name:
                self.add("type", name)
            if words.group(1) and name:
                self.enter(depth, "record", name)
            elif name or rest == "" or rest.startswith("'"):
                self.enter(depth, "link")
        else:
            typed = TYPED.match(rest)
            self.add("template" if kind == "TypeAliasTemplateDecl" else "type", typed.group(1) if typed else rest)

    def add(self, kind, name, const="", static=False):
        scope = [s for s in self.scopes if s.kind in ("space", "record") and s.name]
        inner = self.scopes[-1].templates if self.scopes[-1].kind == "template" else []
        outer = [t for s in scope for t in s.templates]
        entry = Name(kind, tuple(s.name for s in scope), sum(s.kind == "space" for s in scope), name, [], const, static, inner, outer, False,
                     self.file)
        if scope and self.file.startswith(self.roots):
            self.found.names.append(entry)
        return entry


def read(command, roots, unit):
    """Runs clang on the text of a unit. Returns the names that are declared in files below the roots."""
    process = subprocess.Popen([*command, "-fsyntax-only", "-fno-color-diagnostics", "-w", "-Xclang", "-ast-dump"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    process.stdin.write(unit)
    process.stdin.close()
    reader = Reader(tuple(roots))
    for text in process.stdout:
        reader.line(text.rstrip("\n"))
    errors = process.stderr.read()
    if process.wait() != 0:
        sys.exit("clang cannot read the headers:\n" + errors[:2000])
    return reader.found
