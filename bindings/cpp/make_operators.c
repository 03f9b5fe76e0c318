// SPDX-License-Identifier: BSD-2-Clause
// make_operators METHODS FUNCTIONS VISION: runs on the build machine and writes three headers from the operator list:
// the declarations of Tensor's methods, for inclusion in the class; the functions at::name() with the bodies of the
// methods; and the functions vision::ops::name() of torchvision. The signatures are those of PyTorch 1.13, derived from
// the schemas as in torchgen/api/cpp.py. dtype, layout, device and pin_memory together become a TensorOptions, or four
// arguments. An operator that writes to `out` becomes name_out(out, …) with defaults and name_outf(…, out) without.
//
// Which functions are made: an operator without tensors has no function. An operator that changes `self` is a method.
// Any other operator with a `self` is a function and a method, unless its name begins with the prefix of a family of
// functions. All other operators are functions. Rows of the list with CPP() override these rules.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "make_operators: %s: %s\n", what, which);
    exit(1);
}

#include "ops/list/expand_rows.h"

enum { MOST = 48, FUNCTION = 1, METHOD = 2 }; // MOST: greater than the number of arguments of any operator

typedef struct cpp_type {
    const char *schema, *cpp;
    char letter; // stands for the type in a call (taper/cpp/call.h)
} cpp_type;

static const cpp_type types[] = {
    {"Tensor", "const at::Tensor &", 'T'},
    {"Tensor!", "at::Tensor &", 'W'},
    {"Tensor?", "const c10::optional<at::Tensor> &", 'O'},
    {"Tensor[]", "at::TensorList", 'L'},
    {"Tensor[]!", "at::TensorList", 'X'},
    {"Tensor?[]", "const c10::List<c10::optional<at::Tensor>> &", 'V'},
    {"int", "int64_t", 'i'},
    {"int?", "c10::optional<int64_t>", 'I'},
    {"int[]", "at::IntArrayRef", 'n'},
    {"int[]?", "at::OptionalIntArrayRef", 'N'},
    {"float", "double", 'd'},
    {"float?", "c10::optional<double>", 'D'},
    {"float[]", "at::ArrayRef<double>", 'e'},
    {"float[]?", "c10::optional<at::ArrayRef<double>>", 'E'},
    {"bool", "bool", 'b'},
    {"bool?", "c10::optional<bool>", 'B'},
    {"bool[2]", "::std::array<bool,2>", '2'},
    {"bool[3]", "::std::array<bool,3>", '3'},
    {"bool[4]", "::std::array<bool,4>", '4'},
    {"bool[]", "at::ArrayRef<bool>", 'h'},
    {"Scalar", "const at::Scalar &", 's'},
    {"Scalar?", "const c10::optional<at::Scalar> &", 'S'},
    {"Scalar[]", "at::ArrayRef<at::Scalar>", 'r'},
    {"str", "c10::string_view", 't'},
    {"str?", "c10::optional<c10::string_view>", 'U'},
    {"ScalarType", "at::ScalarType", 'k'},
    {"ScalarType?", "c10::optional<at::ScalarType>", 'K'},
    {"Layout", "at::Layout", 'y'},
    {"Layout?", "c10::optional<at::Layout>", 'Y'},
    {"MemoryFormat", "at::MemoryFormat", 'm'},
    {"MemoryFormat?", "c10::optional<at::MemoryFormat>", 'M'},
    {"QScheme", "at::QScheme", 'q'},
    {"Device", "at::Device", 'v'},
    {"Device?", "c10::optional<at::Device>", 'w'},
    {"Generator?", "c10::optional<at::Generator>", 'g'},
    {NULL, NULL, '\0'},
};

typedef struct argument {
    // text: the type in the schema, for example "int[2]?"; value: the default value, or "" if there is none.
    char text[64], name[48], value[96];
    const cpp_type *type;
    bool out; // true for a keyword-only argument (after "*" in the schema) that the operator writes to
} argument;

typedef struct operator
{
    const char *schema;
    char full[128], name[96]; // for example "aten::add.Tensor" and "add"
    argument args[MOST];
    size_t count;
    argument results[MOST]; // results of the operator; only their types are used
    size_t result_count;
    bool result_list; // true if the schema's result is not a tuple "(…)"
    size_t options;   // index of dtype, the first of dtype, layout, device, pin_memory; count if there are none
    size_t outs;      // number of `out` arguments
}
operator;

static void copy(char *to, size_t size, const char *from, size_t length)
{
    if (length >= size) {
        fail("too long", from);
    }
    memcpy(to, from, length);
    to[length] = '\0';
}

// ---- reading a schema

// Splits "Tensor(a!)[] values" into text "Tensor[]!" and name "values". The sizes of number lists are removed.
static const char *read_argument(const char *at, argument *arg, const char *schema)
{
    size_t n = 0;
    bool writes = false;
    memset(arg, 0, sizeof *arg);
    while (*at != ' ' && *at != ',' && *at != ')' && *at != '\0') {
        if (*at == '(') { // skips the alias annotation
            const char *const end = strchr(at, ')');
            if (end == NULL) {
                fail("no )", schema);
            }
            writes = writes || memchr(at, '!', (size_t)(end - at)) != NULL;
            at = end + 1;
            continue;
        }
        if (n + 2 >= sizeof arg->text) {
            fail("a long type", schema);
        }
        arg->text[n++] = *at++;
    }
    if (writes) {
        arg->text[n++] = '!';
    }
    if (*at == ' ') {
        const size_t length = strcspn(++at, "=,)");
        copy(arg->name, sizeof arg->name, at, length);
        at += length;
    }
    if (*at == '=') {
        const char *const start = ++at;
        for (int depth = 0; *at != '\0' && (depth != 0 || (*at != ',' && *at != ')')); at++) {
            depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
        }
        copy(arg->value, sizeof arg->value, start, (size_t)(at - start));
    }
    return at;
}

static const cpp_type *find_type(const char *text)
{
    char plain[64];
    size_t n = 0;
    const bool sym = strncmp(text, "SymInt", 6) == 0;
    if (sym) {
        memcpy(plain, "int", 3);
        n = 3;
        text += 6;
    }
    const bool flags = strncmp(text, "bool[", 5) == 0; // only bool lists have a fixed size in C++ (std::array)
    for (; *text != '\0'; text++) {
        if (flags || *text < '0' || *text > '9') {
            plain[n++] = *text;
        }
    }
    plain[n] = '\0';
    for (const cpp_type *type = types; type->schema != NULL; type++) {
        if (strcmp(type->schema, plain) == 0) {
            return type;
        }
    }
    return NULL;
}

static bool is(const operator* op, size_t at, const char *text, const char *name)
{
    return at < op->count && strcmp(op->args[at].text, text) == 0 && strcmp(op->args[at].name, name) == 0;
}

static void read_operator(const char *schema, operator* op)
{
    memset(op, 0, sizeof *op);
    op->schema = schema;
    copy(op->full, sizeof op->full, schema, strcspn(schema, "("));
    const char *const name = strstr(schema, "::") + strlen("::");
    copy(op->name, sizeof op->name, name, strcspn(name, ".("));
    const char *at = schema + strlen(op->full) + 1;
    bool keywords = false;
    while (*at != ')') {
        if (strncmp(at, "*, ", 3) == 0) {
            keywords = true;
            at += 3;
        }
        if (op->count == MOST - 1) {
            fail("too many arguments", schema);
        }
        argument *const arg = &op->args[op->count++];
        at = read_argument(at, arg, schema);
        arg->out = keywords && strchr(arg->text, '!') != NULL;
        op->outs += arg->out;
        at += strspn(at, ", ");
    }
    if (strncmp(at, ") -> ", 5) != 0) {
        fail("no result", schema);
    }
    at += 5;
    op->result_list = *at == '(';
    at += op->result_list;
    while (*at != ')' && *at != '\0') {
        if (op->result_count == MOST - 1) {
            fail("too many results", schema);
        }
        at = read_argument(at, &op->results[op->result_count++], schema);
        at += strspn(at, ", ");
    }
    op->options = op->count;
    for (size_t i = 0; i < op->count; i++) {
        if (is(op, i + 1, "Layout?", "layout") && is(op, i + 2, "Device?", "device") &&
            is(op, i + 3, "bool?", "pin_memory") && strcmp(op->args[i].name, "dtype") == 0) {
            op->options = i;
        }
    }
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}
static bool ends(const char *text, const char *with)
{
    const size_t length = strlen(text), end = strlen(with);
    return length >= end && strcmp(text + length - end, with) == 0;
}

static size_t self_of(const operator* op) // returns count if there is no self
{
    for (size_t i = 0; i < op->count; i++) {
        if (strcmp(op->args[i].name, "self") == 0 && (is(op, i, "Tensor", "self") || is(op, i, "Tensor!", "self"))) {
            return i;
        }
    }
    return op->count;
}

// Returns the kinds of function to make for the operator: FUNCTION, METHOD, both, or 0 for none. cpp: the CPP() of the
// row, which overrides the rules; NULL if the row has none.
static unsigned kinds_of(const operator* op, const char *cpp)
{
    static const struct {
        const char *word;
        unsigned kinds;
    } words[] = {{"FUNCTION", FUNCTION}, {"METHOD", METHOD}, {"BOTH", FUNCTION | METHOD}, {"NONE", 0}};
    for (size_t i = 0; cpp != NULL && i < sizeof words / sizeof *words; i++) {
        if (strcmp(cpp, words[i].word) == 0) {
            return words[i].kinds;
        }
    }
    if (strstr(op->schema, "Tensor") == NULL) {
        return 0;
    }
    if (op->outs != 0 || self_of(op) == op->count) {
        return FUNCTION;
    }
    if (ends(op->name, "_") && op->name[0] != '_') {
        return METHOD;
    }
    const bool family = op->name[0] == '_' || begins(op->name, "linalg_") || begins(op->name, "special_") ||
                        begins(op->name, "fft_") || ends(op->name, "_copy");
    return family ? FUNCTION : FUNCTION | METHOD;
}

// Arguments that have a default in the schema but not in C++, where it would make calls ambiguous.
static const struct {
    const char *full, *args;
} undefaulted[] = {
    {"aten::arange.start_step", " step "},
    {"aten::arange.start_out", " step "},
    {"aten::range.out", " step "},
    {"aten::clamp", " min "},
    {"aten::clamp_", " min "},
    {"aten::clamp.out", " min "},
    {"aten::clip", " min "},
    {"aten::clip_", " min "},
    {"aten::clip.out", " min "},
    {"aten::conv1d.padding", " bias stride padding "},
    {"aten::conv2d.padding", " bias stride padding "},
    {"aten::conv3d.padding", " bias stride padding "},
    {"aten::stft", " hop_length win_length window normalized "},
    {"aten::linalg_pinv.atol_rtol_float", " atol rtol "},
    {"aten::linalg_pinv.atol_rtol_float_out", " atol rtol "},
    {"aten::linalg_matrix_rank.atol_rtol_float", " atol rtol "},
    {"aten::linalg_matrix_rank.atol_rtol_float_out", " atol rtol "},
};

static void drop_defaults(operator* op)
{
    for (size_t i = 0; i < sizeof undefaulted / sizeof *undefaulted; i++) {
        if (strcmp(op->full, undefaulted[i].full) == 0) {
            for (size_t j = 0; j < op->count; j++) {
                char name[64];
                snprintf(name, sizeof name, " %s ", op->args[j].name);
                if (strstr(undefaulted[i].args, name) != NULL) {
                    op->args[j].value[0] = '\0';
                }
            }
        }
    }
}

// ---- writing C++

enum { GROUPED = 1, DEFAULTS = 2, OUT_FIRST = 4 }; // ways in which a C++ signature differs from the schema

static void print_default(FILE *to, const argument *arg)
{
    const char *const value = arg->value;
    const size_t length = strlen(value);
    if (strcmp(value, "None") == 0) {
        fputs(begins(arg->text, "Tensor") ? "={}" : "=c10::nullopt", to);
    } else if (strcmp(value, "True") == 0 || strcmp(value, "False") == 0) {
        fputs(*value == 'T' ? "=true" : "=false", to);
    } else if (*value == '[') {
        fprintf(to, "={%.*s}", (int)length - 2, value + 1);
    } else if (*value == '\'' || *value == '"') {
        fprintf(to, "=\"%.*s\"", (int)length - 2, value + 1);
    } else if (begins(arg->text, "ScalarType") || begins(arg->text, "MemoryFormat")) {
        fprintf(to, "=static_cast<%s>(%s)", begins(arg->text, "S") ? "at::ScalarType" : "at::MemoryFormat", value);
    } else {
        fprintf(to, "=%s", value);
    }
}

static void print_argument(FILE *to, const argument *arg, bool defaults)
{
    fprintf(to, "%s%s%s", arg->type->cpp, ends(arg->type->cpp, "&") ? "" : " ", arg->name);
    if (defaults && arg->value[0] != '\0') {
        print_default(to, arg);
    }
}

static void print_result_type(FILE *to, const operator* op, const argument *written)
{
    const bool lone = op->result_count == 1;
    if (op->result_count == 0) {
        fputs("void", to);
    } else if (!lone) {
        fputs("::std::tuple<", to);
    }
    for (size_t i = 0; i < op->result_count; i++) {
        const char *const text = op->results[i].text;
        const cpp_type *const type = find_type(text);
        const char *cpp = type == NULL ? NULL : type->cpp;
        if (written != NULL && strcmp(text, "Tensor!") == 0) {
            cpp = "at::Tensor &";
        } else if (strcmp(text, "Tensor") == 0 || strcmp(text, "Tensor!") == 0) {
            cpp = "at::Tensor";
        } else if (begins(text, "Tensor[]")) {
            cpp = "::std::vector<at::Tensor>";
        } else if (strcmp(text, "Scalar") == 0) {
            cpp = "at::Scalar";
        }
        if (cpp == NULL) {
            fail("a result that C++ has no type for", op->schema);
        }
        fprintf(to, "%s%s", i == 0 ? "" : ",", cpp);
    }
    fputs(lone || op->result_count == 0 ? "" : ">", to);
}

// Returns the argument that the operator writes to and returns: `self` or the first `out`. Returns NULL if the result
// is a new value.
static const argument *written_of(const operator* op)
{
    for (size_t i = 0; i < op->count; i++) {
        if (op->args[i].out || is(op, i, "Tensor!", "self")) {
            return op->result_count != 0 && strcmp(op->results[0].text, "Tensor!") == 0 ? &op->args[i] : NULL;
        }
    }
    return NULL;
}

// Prints "at::Tensor name(const at::Tensor &self, …)". skip: index of the argument that is the object of a method.
static void print_signature(FILE *to, const operator* op, const char *name, size_t skip, unsigned how)
{
    print_result_type(to, op, written_of(op));
    fprintf(to, " %s(", name);
    const char *comma = "";
    for (size_t pass = 0; pass < 2; pass++) { // one pass for the `out` arguments and one for the other arguments
        const bool outs = (pass == 0) == ((how & OUT_FIRST) != 0);
        for (size_t i = 0; i < op->count; i++) {
            if (i == skip || op->args[i].out != outs) {
                continue;
            }
            fputs(comma, to);
            comma = ", ";
            if (i == op->options && (how & GROUPED) != 0) {
                const char *const dtype = op->args[i].value;
                fputs("at::TensorOptions options", to);
                // PyTorch gives options no default where pin_memory is False.
                const bool defaults = (how & DEFAULTS) != 0 && strcmp(op->args[i + 3].value, "False") != 0;
                if (defaults && strcmp(dtype, "None") == 0) {
                    fputs("={}", to);
                } else if (defaults && *dtype != '\0') {
                    fprintf(to, "=static_cast<at::ScalarType>(%s)", dtype);
                }
                i += 3;
            } else {
                print_argument(to, &op->args[i], (how & DEFAULTS) != 0);
            }
        }
    }
    fputs(")", to);
}

// Prints a body: the call of the operator, with a pointer to each argument. TensorOptions replace four arguments, and
// the memory format may be in the options or in the argument after them.
static void print_body(FILE *to, const operator* op, size_t skip, unsigned how)
{
    const argument *const written = written_of(op);
    const bool grouped = op->options < op->count && (how & GROUPED) != 0;
    const bool lone =
        op->result_count == 1 && begins(op->results[0].text, "Tensor") && strstr(op->results[0].text, "[]") == NULL;
    char letters[MOST + 1];
    size_t count = 0;
    for (size_t i = 0; i < op->count; i++) {
        const bool options = grouped && i == op->options;
        const bool format = grouped && i > op->options && is(op, i, "MemoryFormat?", "memory_format");
        letters[count++] = options ? 'o' : format ? 'f' : op->args[i].type->letter;
        i += options ? 3 : 0;
    }
    letters[count] = '\0';
    fputs("\n{\n    ", to);
    if (op->result_count == 0 || written != NULL) {
        fputs("taper::cpp::run", to);
    } else if (lone) {
        fputs("return taper::cpp::tensor_of", to);
    } else {
        fputs("return taper::cpp::result_of<", to);
        print_result_type(to, op, NULL);
        fputs(">", to);
    }
    fprintf(to, "(\"%s %s\"", letters, op->full);
    for (size_t i = 0; i < op->count; i++) {
        const bool options = grouped && i == op->options;
        fprintf(to, ", %s%s", i == skip ? "this" : "&", i == skip ? "" : options ? "options" : op->args[i].name);
        i += options ? 3 : 0;
    }
    fputs(");\n", to);
    if (written != NULL) {
        fprintf(to, "    return %s", op->result_count > 1 ? "{" : "");
        const char *comma = "";
        for (size_t i = 0; i < op->count; i++) {
            if (op->args[i].out || &op->args[i] == written) {
                fputs(comma, to);
                fputs(i == skip ? "const_cast<at::Tensor &>(*this)" : op->args[i].name, to);
                comma = ", ";
            }
        }
        fprintf(to, "%s;\n", op->result_count > 1 ? "}" : "");
    }
    fputs("}\n", to);
}

static void print_head(FILE *to, const operator* op, const char *suffix, unsigned how)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s", op->name, suffix);
    fputs("inline ", to);
    print_signature(to, op, name, op->count, how);
}

static void print_functions(FILE *to, const operator* op)
{
    const bool grouped = op->options < op->count;
    const unsigned first = op->outs != 0 ? OUT_FIRST : grouped ? GROUPED : 0;
    print_head(to, op, op->outs != 0 ? "_out" : "", DEFAULTS | first);
    print_body(to, op, op->count, first);
    if (first != 0) {
        print_head(to, op, op->outs != 0 ? "_outf" : "", 0);
        print_body(to, op, op->count, 0);
    }
}

static void print_methods(FILE *declared, FILE *defined, const operator* op)
{
    const size_t self = self_of(op);
    for (unsigned grouped = op->options < op->count ? 2 : 1; grouped-- != 0;) {
        const unsigned how = grouped != 0 ? GROUPED : 0;
        const bool defaults = grouped != 0 || op->options == op->count;
        char name[128];
        snprintf(name, sizeof name, "Tensor::%s", op->name);
        print_signature(declared, op, op->name, self, how | (defaults ? DEFAULTS : 0));
        fputs(" const;\n", declared);
        fputs("inline ", defined);
        print_signature(defined, op, name, self, how);
        fputs(" const", defined);
        print_body(defined, op, self, how);
    }
}

static void print_both(FILE *methods, FILE *functions, const operator* op, unsigned kinds)
{
    if ((kinds & FUNCTION) != 0) {
        print_functions(functions, op);
    }
    if ((kinds & METHOD) != 0) {
        print_methods(methods, functions, op);
    }
}

// Prints the function of at::fft_fft, for example, also as torch::fft::fft.
static void print_spaced(FILE *to, const operator* op)
{
    static const char *const spaces[] = {"fft", "linalg", "special"};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        const size_t length = strlen(spaces[i]);
        if (begins(op->name, spaces[i]) && op->name[length] == '_') {
            operator shorter;
            memcpy(&shorter, op, sizeof shorter);
            copy(shorter.name, sizeof shorter.name, op->name + length + 1, strlen(op->name) - length - 1);
            fprintf(to, "namespace %s\n{\n", spaces[i]);
            print_functions(to, &shorter);
            fputs("}\n", to);
        }
    }
}

static FILE *create(const char *path)
{
    FILE *const file = fopen(path, "w");
    if (file == NULL) {
        fail("cannot write", path);
    }
    fputs("/* SPDX-License-Identifier: BSD-2-Clause */\n// Made by bindings/cpp/make_operators.c from the operator "
          "list.\n",
          file);
    return file;
}

// Operators that the library does not have. Their functions throw.
static const struct {
    const char *schema, *kind;
} refused[] = {
#define REFUSED(schema, kind) {schema, kind},
#include "refused_operators.inc"
#undef REFUSED
};

// Reads a row, and returns the kinds of function to make for it: FUNCTION, METHOD, both, or 0 for none.
static unsigned read_row(const char *schema, const char *cpp, operator* op)
{
    read_operator(schema, op);
    drop_defaults(op);
    const unsigned kinds = kinds_of(op, cpp);
    for (size_t i = 0; kinds != 0 && i < op->count; i++) {
        op->args[i].type = find_type(op->args[i].text);
        if (op->args[i].type == NULL) {
            fail("an argument that C++ has no type for; CPP(NONE)?", op->schema);
        }
    }
    if ((kinds & METHOD) != 0 && self_of(op) == op->count) {
        fail("a method without self", op->schema);
    }
    return kinds;
}

int main(int argc, char **argv)
{
    static operator op;
    if (argc != 5) {
        fail("wanted", "the names of the files to write");
    }
    FILE *const methods = create(argv[1]), *const functions = create(argv[2]), *const vision = create(argv[3]);
    FILE *const spaces = create(argv[4]);
    fputs("// Inside class Tensor.\n", methods);
    fputs("#ifndef TAPER_CPP_GENERATED_FUNCTIONS_H\n#define TAPER_CPP_GENERATED_FUNCTIONS_H\n\n"
          "#include <taper/cpp/call.h>\n\nnamespace at\n{\n\n",
          functions);
    fputs("#ifndef TAPER_CPP_GENERATED_VISION_H\n#define TAPER_CPP_GENERATED_VISION_H\n\n"
          "#include <taper/cpp/call.h>\n\nnamespace vision\n{\nnamespace ops\n{\n\n",
          vision);
    fputs("#ifndef TAPER_CPP_GENERATED_SPACES_H\n#define TAPER_CPP_GENERATED_SPACES_H\n\n"
          "#include <taper/cpp/call.h>\n\nnamespace torch\n{\n\n",
          spaces);
    const size_t count = expand_rows();
    for (size_t i = 0; i < count; i++) {
        if (begins(rows[i].schema, "torchvision::")) {
            if (read_row(rows[i].schema, NULL, &op) != 0) {
                print_functions(vision, &op);
            }
        } else if (begins(rows[i].schema, "aten::")) {
            const unsigned kinds = read_row(rows[i].schema, own_word(&rows[i], "CPP"), &op);
            print_both(methods, functions, &op, kinds);
            if ((kinds & FUNCTION) != 0) {
                print_spaced(spaces, &op);
            }
        }
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        print_both(methods, functions, &op, read_row(refused[i].schema, refused[i].kind, &op));
    }
    fputs("\n} // namespace at\n\n#endif\n", functions);
    fputs("\n} // namespace ops\n} // namespace vision\n\n#endif\n", vision);
    fputs("\n} // namespace torch\n\n#endif\n", spaces);
    return fclose(methods) != 0 || fclose(functions) != 0 || fclose(vision) != 0 || fclose(spaces) != 0;
}
