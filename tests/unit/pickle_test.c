// SPDX-License-Identifier: BSD-2-Clause
// Tests the pickle reader: every opcode and global that it supports, and pickles that it refuses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/pickle.h"
#include "ir/storage.h"

typedef struct fixture {
    taper_types *types;
    taper_heap *heap;
    taper_type_scope *scope;
    taper_error *error;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(taper_types_create(&taper_allocator_system, &f->types, NULL), TAPER_OK);
    assert_int_equal(taper_heap_create(&taper_allocator_system, f->types, &f->heap, NULL), TAPER_OK);
    assert_int_equal(taper_type_scope_create(&taper_allocator_system, &f->scope, NULL), TAPER_OK);
    f->error = taper_error_create();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    taper_type_scope_destroy(f->scope);
    taper_heap_close(f->heap);
    taper_types_release(f->types);
    taper_error_destroy(f->error);
    free(f);
    return 0;
}

// Returns storages with the bytes 0, 1, 2, …; the key of a storage is the number of its bytes.
static taper_status get_storage(void *user, const char *key, size_t length, taper_dtype dtype, int64_t numel,
                                taper_storage **storage, taper_error *error)
{
    const fixture *f = user;
    const size_t bytes = (size_t)atoi(key);
    if (length == 0 || (size_t)numel * taper_dtype_size(dtype) > bytes) {
        return taper_fail(error, TAPER_ERROR_FILE, "no such storage");
    }
    if (taper_storage_new(f->heap, bytes, storage, error) != TAPER_OK) {
        return TAPER_ERROR_RESOURCE;
    }
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)(*storage)->data)[i] = (uint8_t)i;
    }
    return TAPER_OK;
}

// Classes whose names end with "S" have a __setstate__, which stores the state in a slot.
static taper_status set_state(void *user, taper_object *object, taper_val state, bool *taken, taper_error *error)
{
    (void)user;
    const char *class_name = object->klass->name;
    *taken = class_name[strlen(class_name) - 1] == 'S';
    return *taken ? taper_object_set(object, 0, state, error) : TAPER_OK;
}

static taper_status read_bytes(fixture *f, const char *data, size_t size, taper_val *value)
{
    uint8_t *copy = malloc(size + 1); // exact size, so that a sanitizer detects reads beyond the end
    assert_non_null(copy);
    memcpy(copy, data, size);
    const taper_class_host classes = {.set_state = set_state};
    const taper_pickle_host host = {.user = f, .storage = get_storage, .classes = &classes};
    const taper_pickle_source source = {.data = copy, .size = size, .offset = 1000, .name = "test.pkl"};
    const taper_status status = taper_pickle_read(f->heap, f->scope, &host, &source, value, f->error);
    free(copy);
    return status;
}

static void describe(taper_val value, taper_text *text);

static void describe_items(const taper_val *items, size_t count, taper_text *text)
{
    for (size_t i = 0; i < count; i++) {
        taper_text_string(text, i != 0 ? "," : "");
        describe(items[i], text);
    }
}

static void describe_tensor(const taper_tensor *tensor, taper_text *text)
{
    taper_text_format(text, "tensor(%s @%d", taper_dtype_name((taper_dtype)tensor->dtype), (int)tensor->offset);
    for (unsigned i = 0; i < tensor->rank; i++) {
        taper_text_format(text, " %d:%d", (int)tensor->sizes[i], (int)tensor->strides[i]);
    }
    if (tensor->quantizer != NULL) {
        taper_text_format(text, " q%u", tensor->quantizer->scheme);
        if (tensor->quantizer->scales != NULL) {
            taper_text_format(text, " %s %s %d", taper_dtype_name((taper_dtype)tensor->quantizer->scales->dtype),
                              taper_dtype_name((taper_dtype)tensor->quantizer->zero_points->dtype),
                              (int)tensor->quantizer->axis);
        } else {
            taper_text_format(text, " %g %d", tensor->quantizer->scale, (int)tensor->quantizer->zero_point);
        }
    }
    taper_text_string(text, tensor->requires_grad ? " grad)" : ")");
}

static void describe(taper_val value, taper_text *text)
{
    switch (value.tag) {
    case TAPER_NONE:
        taper_text_string(text, "None");
        break;
    case TAPER_BOOLEAN:
        taper_text_string(text, value.as.i != 0 ? "True" : "False");
        break;
    case TAPER_INT:
        taper_text_format(text, "%lld", (long long)value.as.i);
        break;
    case TAPER_DOUBLE:
        taper_text_double(text, value.as.f);
        break;
    case TAPER_DEVICE:
        taper_text_format(text, "device(%d,%d)", (int)(value.as.i >> 8), (int)(value.as.i & 255) - 1);
        break;
    case TAPER_COMPLEX:
        taper_text_format(text, "complex(%g,%g)", value.as.complex->re, value.as.complex->im);
        break;
    case TAPER_STRING:
        taper_text_format(text, "'%s'", value.as.string->data);
        break;
    case TAPER_TENSOR:
        describe_tensor(value.as.tensor, text);
        break;
    case TAPER_LIST:
        taper_text_string(text, "[");
        describe_items(value.as.list->items, value.as.list->count, text);
        taper_text_string(text, "]");
        if (value.as.list->element != NULL) {
            taper_text_string(text, ":");
            taper_type_print(value.as.list->element, text);
        }
        break;
    case TAPER_TUPLE:
        taper_text_string(text, "(");
        describe_items(value.as.tuple->items, value.as.tuple->count, text);
        taper_text_string(text, ")");
        break;
    case TAPER_DICT:
        taper_text_string(text, "{");
        describe_items(value.as.dict->entries, 2 * value.as.dict->count, text);
        taper_text_string(text, "}");
        if (value.as.dict->key != NULL) {
            taper_text_string(text, ":");
            taper_type_print(value.as.dict->key, text);
            taper_text_string(text, "-");
            taper_type_print(value.as.dict->value, text);
        }
        break;
    case TAPER_OBJECT:
        taper_text_format(text, "<%s", value.as.object->klass->name);
        for (size_t i = 0; i < value.as.object->count; i++) {
            taper_text_format(text,
                              " %s=", value.as.object->klass->slots != NULL ? value.as.object->klass->slots[i] : "?");
            describe(value.as.object->slots[i], text);
        }
        taper_text_string(text, ">");
        break;
    default:
        taper_text_string(text, "unexpected");
        break;
    }
}

// Parts of pickles, as opcodes.
#define INTLIST "ctorch.jit._pickle\nbuild_intlist\n"
#define TAG "ctorch.jit._pickle\nrestore_type_tag\n"
#define TENSOR "ctorch._utils\n_rebuild_tensor_v2\n"
#define PARAMETER "ctorch._utils\n_rebuild_parameter\n"
#define QTENSOR "ctorch._utils\n_rebuild_qtensor\n"
#define SEVENTEEN "K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1"
#define ORDERED "ccollections\nOrderedDict\n)R"
#define STRING(length, text) "X" length "\0\0\0" text
// A storage of the class with `bytes` bytes and `n` elements, as opcodes.
#define STORAGE(class, key_length, bytes, n)                                                                           \
    "(" STRING("\7", "storage") "ctorch\n" class "\n" STRING(key_length, bytes) STRING("\3", "cpu") n "tQ"
#define FLOATS STORAGE("FloatStorage", "\2", "24", "K\6")
#define BYTES(text) text, sizeof(text) - 1

typedef struct pickle_case {
    const char *data;
    size_t size;
    const char *expected; // description of the value; if it is refused, a part of the message
} pickle_case;

static const pickle_case good[] = {
    {BYTES("\x80\2N."), "None"},
    {BYTES("N."), "None"}, // a pickle without the optional opcode for the protocol
    {BYTES("\x88."), "True"},
    {BYTES("\x89."), "False"},
    {BYTES("K\xff."), "255"},
    {BYTES("M\xff\xff."), "65535"},
    {BYTES("J\xff\xff\xff\xff."), "-1"},
    {BYTES("J\0\0\0\x80."), "-2147483648"},
    {BYTES("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."), "9223372036854775807"},
    {BYTES("\x8a\x08\0\0\0\0\0\0\0\x80."), "-9223372036854775808"},
    {BYTES("\x8a\0."), "0"},
    {BYTES("\x8a\1\xfe."), "-2"},
    {BYTES("G\x3f\xf8\0\0\0\0\0\0."), "1.5"},
    {BYTES(STRING("\2", "hi") "."), "'hi'"},
    {BYTES(STRING("\0", "") "."), "''"},
    {BYTES(")."), "()"},
    {BYTES("K\1\x85."), "(1)"},
    {BYTES("K\1K\2\x86."), "(1,2)"},
    {BYTES("K\1K\2K\3\x87."), "(1,2,3)"},
    {BYTES("(K\1K\2K\3K\4t."), "(1,2,3,4)"},
    {BYTES("(t."), "()"},
    {BYTES("]."), "[]"},
    {BYTES("](K\1K\2e."), "[1,2]"},
    {BYTES("]q\0(K\1K\2e."), "[1,2]"}, // the list is memoized before it is filled, as in pickles of Python
    {BYTES("](K\1e(K\2e."), "[1,2]"},
    {BYTES("(K\1K\2l."), "[1,2]"},
    {BYTES("}."), "{}"},
    {BYTES("}(" STRING("\1", "a") "K\1u."), "{'a',1}"},
    {BYTES("(" STRING("\1", "a") "K\1K\7]d."), "{'a',1,7,[]}"},
    {BYTES("}(K\1K\2K\1K\3u."), "{1,3}"},
    {BYTES("}K\1K\2sK\3K\4s."), "{1,2,3,4}"},
    {BYTES(ORDERED "K\1K\2s}" STRING("\1", "a") "}sb."), "{1,2}"}, // a state dict with metadata of its modules
    {BYTES(STRING("\1", "a") "q\0h\0\x86."), "('a','a')"},
    {BYTES("K\5r\1\0\0\0j\1\0\0\0\x86."), "(5,5)"},
    {BYTES(INTLIST "(](K\1K\2etR."), "[1,2]:int"},
    {BYTES("ctorch.jit._pickle\nbuild_doublelist\n]\x85R."), "[]:float"},
    {BYTES("ctorch.jit._pickle\nbuild_boollist\n](\x88"
           "e\x85R."),
     "[True]:bool"},
    {BYTES("ctorch.jit._pickle\nbuild_tensorlist\n]\x85R."), "[]:Tensor"},
    {BYTES(TAG "](Ne" STRING("\x16", "List[Optional[Tensor]]") "\x86R."), "[None]:Optional[Tensor]"},
    {BYTES(TAG "}(" STRING("\1", "k") "](K\1eu" STRING("\x14", "Dict[str, List[int]]") "\x86R."),
     "{'k',[1]}:str-List[int]"},
    {BYTES("ctorch\ndevice\n" STRING("\3", "cpu") "\x85R."), "device(0,-1)"},
    {BYTES("ctorch\ndevice\n" STRING("\6", "cuda:1") "\x85R."), "device(1,1)"},
    {BYTES("ctorch\ndevice\n" STRING("\6", "vulkan") "\x85R."), "device(10,-1)"},
    {BYTES("cbuiltins\ncomplex\nG\x3f\xf8\0\0\0\0\0\0G\xbf\xf8\0\0\0\0\0\0\x86R."), "complex(1.5,-1.5)"},
    {BYTES(ORDERED "."), "{}"},
    {BYTES("c__torch__\nM\n)\x81}(" STRING("\1", "a") "K\1" STRING("\1", "b") "Nub."), "<__torch__.M a=1 b=None>"},
    {BYTES("c__torch__.x.y\nM\n)\x81}b."), "<__torch__.x.y.M>"},
    {BYTES("c__torch__\nM\n)\x81."), "<__torch__.M>"},
    {BYTES("c__torch__\nS\n)\x81K\7b."), "<__torch__.S ?=7>"},
    {BYTES("c__torch__.torch.classes.xnnpack\nCtx\n)\x81K\7K\x8\x86"
           "b."),
     "<__torch__.torch.classes.xnnpack.Ctx state=(7,8)>"},
    {BYTES(TENSOR "(" FLOATS "K\0K\2K\3\x86K\3K\1\x86\x89" ORDERED "tR."), "tensor(float32 @0 2:3 3:1)"},
    {BYTES(TENSOR "(" FLOATS "K\1K\2\x85K\2\x85\x88" ORDERED "tR."), "tensor(float32 @1 2:2 grad)"},
    {BYTES(TENSOR "(" FLOATS "K\5))\x89" ORDERED "tR."), "tensor(float32 @5)"},
    {BYTES(PARAMETER TENSOR "(" FLOATS "K\5))\x89" ORDERED "tR\x88" ORDERED "\x87R."), "tensor(float32 @5 grad)"},
    {BYTES(PARAMETER TENSOR "(" FLOATS "K\5))\x88" ORDERED "tR\x89" ORDERED "\x87R."), "tensor(float32 @5)"},
    {BYTES("ctorch._utils\n_rebuild_parameter_with_state\n(" TENSOR "(" FLOATS "K\5))\x89" ORDERED "tR\x88" ORDERED
           "}tR."),
     "tensor(float32 @5 grad)"},
    {BYTES(TENSOR "(" FLOATS "K\0M\0\4\x85K\0\x85\x89" ORDERED "}tR."), "tensor(float32 @0 1024:0)"},
    {BYTES(TENSOR "(" FLOATS "K\0K\1\x85K\1\x85\x89" ORDERED "}(" STRING("\4", "conj") "\x89utR."),
     "tensor(float32 @0 1:1)"},
    {BYTES(TENSOR "(" STORAGE("LongStorage", "\1", "0", "K\0") "K\0K\0\x85K\1\x85\x89" ORDERED "tR."),
     "tensor(int64 @0 0:1)"},
    {BYTES(QTENSOR "(" STORAGE(
         "QUInt8Storage", "\2", "24",
         "K\4") "K\0K\4\x85K\1\x85(ctorch\nper_tensor_affine\nG\x3f\xf8\0\0\0\0\0\0K\3t\x89" ORDERED "tR."),
     "tensor(quint8 @0 4:1 q0 1.5 3)"},
    // The form before PyTorch 1.3, in which scale and zero point are separate arguments.
    {BYTES(QTENSOR "(" STORAGE("QUInt8Storage", "\2", "24",
                               "K\4") "K\0K\4\x85K\1\x85G\x3f\xf8\0\0\0\0\0\0K\3\x89" ORDERED "tR."),
     "tensor(quint8 @0 4:1 q0 1.5 3)"},
    {BYTES(QTENSOR "(" STORAGE(
         "QInt8Storage", "\2", "24",
         "K\4") "K\0K\2K\2\x86K\2K\1\x86(ctorch\nper_channel_affine\n" TENSOR
                "(" STORAGE("DoubleStorage", "\2", "16", "K\2") "K\0K\2\x85K\1\x85\x89" ORDERED "tR" TENSOR "(" STORAGE(
                    "LongStorage", "\2", "16", "K\2") "K\0K\2\x85K\1\x85\x89" ORDERED "tR"
                                                      "K\1t\x89" ORDERED "tR."),
     "tensor(qint8 @0 2:2 2:1 q1 float64 int64 1)"},
    {BYTES(QTENSOR "(" STORAGE(
         "QUInt8Storage", "\2", "24",
         "K\4") "K\0K\2\x85K\1\x85(ctorch\nper_channel_affine_float_qparams\n" TENSOR
                "(" STORAGE("FloatStorage", "\2", "16", "K\2") "K\0K\2\x85K\1\x85\x89" ORDERED "tR" TENSOR "(" STORAGE(
                    "FloatStorage", "\2", "16", "K\2") "K\0K\2\x85K\1\x85\x89" ORDERED "tR"
                                                       "K\0t\x89" ORDERED "tR."),
     "tensor(quint8 @0 2:1 q4 float64 float32 0)"},
    {BYTES("N.trailing bytes"), "None"},
};

static void reads(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        taper_val value;
        const taper_status status = read_bytes(f, good[i].data, good[i].size, &value);
        if (status != TAPER_OK) {
            fail_msg("case %zu (%s): %s", i, good[i].expected, taper_error_message(f->error));
        }
        taper_text text = taper_text_make(&taper_allocator_system);
        describe(value, &text);
        assert_string_equal(taper_text_get(&text), good[i].expected);
        taper_text_free(&text);
        taper_val_release(value);
    }
}

static const pickle_case bad[] = {
    {BYTES(""), "ends early"},
    {BYTES("\x80\4N."), "protocol 4"},
    {BYTES("."), "ends with 0 values"},
    {BYTES("NN."), "ends with 2 values"},
    {BYTES("(N."), "ends with"},
    {BYTES("0."), "opcode 0x30"},
    {BYTES("i__builtin__\neval\n."), "opcode 0x69"},
    {BYTES("cos\nsystem\n."), "os.system"},
    {BYTES("cbuiltins\neval\n."), "builtins.eval"},
    {BYTES("c__torch__x\nM\n."), "__torch__x.M"},
    {BYTES("c__torch__\nM\n."), "instead of a value"},
    {BYTES("c__torch__\n\n."), "no class name"},
    {BYTES("X\xff\xff\xff\xff"
           "abc."),
     "ends early"},
    {BYTES("\x8a\x09\0\0\0\0\0\0\0\0\1."), "9 bytes"},
    {BYTES("t."), "no mark"},
    {BYTES("\x85."), "too few"},
    {BYTES("(K\1\x86."), "too few"},
    {BYTES("K\1(\x86."), "too few"}, // the mark is between the two operands
    {BYTES("h\0."), "not set"},
    {BYTES("Nq\5h\4."), "not set"},
    {BYTES("Nq\1Nq\1."), "set twice"},
    {BYTES("Nr\xff\xff\xff\x7f."), "beyond the limit"},
    {BYTES("N(K\1e."), "without a fresh list"},
    {BYTES("(K\1e."), "without a fresh list"},
    {BYTES("](K\1u."), "without a fresh dict"},
    {BYTES("}(K\1u."), "without a value"},
    {BYTES("}(]K\1u."), "cannot be a key"},
    {BYTES("]q\0(h\0e."), "changed after it was used"},                 // a list that contains itself
    {BYTES("}q\0(K\1h\0u."), "changed after it was used"},              // a dict that contains itself
    {BYTES("]q\0\x85h\0(K\1e\x86."), "changed after it was used"},      // a list that is already in a tuple
    {BYTES("]q\0]q\1(h\0eh\0(h\1e\x86."), "changed after it was used"}, // a cycle of two lists
    {BYTES("c__torch__\nM\n)\x81q\0}(" STRING("\1", "a") "h\0ub."), "changed after"}, // an object that contains itself
    {BYTES("c__torch__\nM\n)\x81}b}b."), "without a fresh object"},
    {BYTES("c__torch__\nM\n)\x81K\1b."), "has no method __torch__.M.__setstate__"},
    {BYTES("c__torch__\nM\n)\x81}(K\1K\1ub."), "no proper name"},
    {BYTES("c__torch__\nM\nK\1\x85\x81."), "not a class"},
    {BYTES("c__torch__\nColor\nK\1\x85R."), "enum"},
    {BYTES("](c__torch__\nM\ne."), "where a value is expected"},
    {BYTES("}(K\1" FLOATS "u."), "where a value is expected"},
    {BYTES(FLOATS "\x85."), "instead of a value"},
    {BYTES(FLOATS "q\0](h\0e."), "where a value is expected"},
    {BYTES("N)R."), "without a function"},
    {BYTES("ctorch\nFloatStorage\n)R."), "called like a function"},
    {BYTES(INTLIST "](" STRING("\1", "a") "e\x85R."), "is a str"},
    {BYTES(INTLIST "K\1\x85R."), "no list"},
    {BYTES(TAG "](Ne" STRING("\x9", "List[int]") "\x86R."), "is a None"},
    {BYTES(TAG "]" STRING("\xe", "Dict[str, int]") "\x86R."), "marked as"},
    {BYTES(TAG "]" STRING("\5", "List[") "\x86R."), "test.pkl, byte"},
    {BYTES(INTLIST "(]q\0tRh\0(Ne\x86."), "without a fresh list"}, // the list is filled after its type was set
    {BYTES("ctorch\ndevice\n" STRING("\5", "dream") "\x85R."), "no device"},
    {BYTES("ctorch._utils\n_rebuild_sparse_tensor\n)R."), "sparse"},
    {BYTES("ctorch._utils\n_rebuild_tensor_v3\n(" STORAGE("UntypedStorage", "\1", "4",
                                                          "K\4") "K\0))\x89" ORDERED "ctorch\nfloat8_e4m3fn\ntR."),
     "a tensor of dtype float8_e4m3fn"},
    {BYTES("ctorch._utils\n_rebuild_tensor_v3\n)R."), "a tensor of dtype unknown"},
    {BYTES(PARAMETER "N\x88" ORDERED "\x87R."), "made of no tensor"},
    {BYTES(PARAMETER ")R."), "made of no tensor"},
    {BYTES("}K\1s."), "damaged"},
    {BYTES("NK\1K\2s."), "without a fresh dict"},
    {BYTES("K\1K\2s."), "damaged"},
    {BYTES("c__main__\nTensorID\n)R."), "TensorID"},
    {BYTES("NQ."), "no storage"},
    {BYTES("(" STRING("\7", "storage") "ctorch\nFloatStorage\n" STRING("\1", "4") STRING("\4", "meta") "K\1tQ."),
     "meta"},
    {BYTES("(" STRING("\7", "storage") "ctorch\nFloatStorage\n" STRING("\1", "4")
               STRING("\3", "cpu") "J\xff\xff\xff\xfftQ."),
     "-1 elements"},
    {BYTES(STORAGE("FloatStorage", "\1", "4", "K\2") "."), "no such storage"},
    {BYTES(TENSOR "(" FLOATS "K\0K\2K\4\x86K\4K\1\x86\x89" ORDERED "tR."), "does not fit"},
    {BYTES(TENSOR "(" FLOATS "K\6))\x89" ORDERED "tR."), "does not fit"},
    {BYTES(TENSOR "(" FLOATS "J\xff\xff\xff\xff))\x89" ORDERED "tR."), "does not fit"},
    {BYTES(TENSOR "(" FLOATS "K\0K\1\x85)\x89" ORDERED "tR."), "1 sizes and 0 strides"},
    {BYTES(TENSOR "(" FLOATS "K\0J\xff\xff\xff\xff\x85K\1\x85\x89" ORDERED "tR."), "from 0 up"},
    {BYTES(TENSOR "(" FLOATS "K\0(" SEVENTEEN "t(" SEVENTEEN "t\x89" ORDERED "tR."), "17 dimensions"},
    {BYTES(TENSOR "(" FLOATS "K\0K\1\x85K\1\x85\x89" ORDERED "}(" STRING("\4", "conj") "\x88utR."), "conjugation"},
    {BYTES(TENSOR "(NK\0))\x89" ORDERED "tR."), "without a storage"},
    {BYTES(TENSOR "(NK\0K\6\x87K\0))\x89" ORDERED "tR."), "without a storage"}, // a tuple in place of the storage
    {BYTES(TENSOR ")R."), "0 arguments"},
    {BYTES(TENSOR "(" STORAGE("QUInt8Storage", "\2", "24", "K\4") "K\0))\x89" ORDERED "tR."), "without quantization"},
    {BYTES(QTENSOR "(" FLOATS "K\0))N\x89" ORDERED "tR."), "dtype float32"},
    {BYTES(QTENSOR "(" STORAGE("QUInt8Storage", "\2", "24", "K\4") "K\0))N\x89" ORDERED "tR."),
     "without a quantization scheme"},
    {BYTES(QTENSOR "(" STORAGE("QUInt8Storage", "\2", "24", "K\4") "K\0K\4\x85K\1\x85G\x3f\xf8\0\0\0\0\0\0N\x89" ORDERED
                                                                   "tR."),
     "without scale and zero point"},
    {BYTES(QTENSOR "(" STORAGE("QUInt8Storage", "\2", "24",
                               "K\4") "K\0K\4\x85K\1\x85(ctorch\nper_channel_affine\nNNK\0t\x89" ORDERED "tR."),
     "do not fit its 4 channels"},
    {BYTES(QTENSOR "(" STORAGE("QUInt8Storage", "\2", "24",
                               "K\4") "K\0K\4\x85K\1\x85(ctorch\nper_channel_affine\nNNK\1t\x89" ORDERED "tR."),
     "proper axis"},
};

static void refuses(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        taper_val value;
        taper_error_clear(f->error);
        const taper_status status = read_bytes(f, bad[i].data, bad[i].size, &value);
        if (status == TAPER_OK || strstr(taper_error_message(f->error), bad[i].expected) == NULL) {
            fail_msg("case %zu should say \"%s\" and says \"%s\"", i, bad[i].expected, taper_error_message(f->error));
        }
        assert_int_not_equal(status, TAPER_ERROR_ARGUMENT);
        assert_int_equal(value.tag, TAPER_NONE);
    }
}

static void tells_where(void **state)
{
    fixture *f = *state;
    taper_val value;
    assert_int_not_equal(read_bytes(f, BYTES("NNNh\7."), &value), TAPER_OK);
    assert_non_null(strstr(taper_error_message(f->error), "test.pkl, byte 3"));
    assert_int_equal(taper_error_offset(f->error), 1003);
}

static void shares_through_the_memo(void **state)
{
    fixture *f = *state;
    taper_val value;
    assert_int_equal(read_bytes(f, BYTES("](K\1eq\0h\0\x86."), &value), TAPER_OK);
    assert_ptr_equal(value.as.tuple->items[0].as.obj, value.as.tuple->items[1].as.obj);
    taper_val_release(value);
    assert_int_equal(
        read_bytes(f, BYTES(FLOATS "q\0" TENSOR "(h\0K\0))\x89" ORDERED "tR" TENSOR "(h\0K\1))\x89" ORDERED "tR\x87."),
                   &value),
        TAPER_ERROR_FILE); // the result of a pickle must not be a storage
    static const char two[] = TENSOR "(" FLOATS "q\0K\0))\x89" ORDERED "tR" TENSOR "(h\0K\1))\x89" ORDERED "tR\x86.";
    assert_int_equal(read_bytes(f, BYTES(two), &value), TAPER_OK);
    assert_ptr_equal(value.as.tuple->items[0].as.tensor->storage, value.as.tuple->items[1].as.tensor->storage);
    taper_val_release(value);
}

static void bounds_depth(void **state)
{
    fixture *f = *state;
    for (int depth = TAPER_LIMIT_VALUE_DEPTH - 10; depth < TAPER_LIMIT_VALUE_DEPTH + 10; depth++) {
        for (int kind = 0; kind < 3; kind++) {
            taper_text text = taper_text_make(&taper_allocator_system);
            for (int i = 0; i < depth; i++) {
                taper_text_string(&text, kind == 1 ? "](" : kind == 2 ? "}(K\1" : "");
            }
            taper_text_string(&text, "N");
            for (int i = 0; i < depth; i++) {
                taper_text_string(&text, kind == 0 ? "\x85" : kind == 1 ? "e" : "u");
            }
            taper_text_string(&text, ".");
            taper_val value;
            const taper_status status = read_bytes(f, text.data, text.length, &value);
            assert_int_equal(status, depth <= TAPER_LIMIT_VALUE_DEPTH ? TAPER_OK : TAPER_ERROR_RESOURCE);
            taper_val_release(value);
            taper_text_free(&text);
        }
    }
    // Each reference to the memo doubles the value, so a short pickle describes a huge value. Reading it must need
    // little memory.
    taper_text text = taper_text_make(&taper_allocator_system);
    taper_text_string(&text, "K\1");
    for (int i = 1; i < 100; i++) {
        const char again[] = {'q', (char)i, 'h', (char)i, (char)0x86};
        taper_text_append(&text, again, sizeof again);
    }
    taper_text_string(&text, ".");
    taper_val value;
    assert_int_equal(read_bytes(f, text.data, text.length, &value), TAPER_OK);
    taper_val_release(value);
    taper_text_free(&text);
}

static void survives_truncation_and_damage(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char *copy = malloc(good[i].size);
        assert_non_null(copy);
        taper_val value;
        for (size_t size = 0; size < good[i].size; size++) {
            if (read_bytes(f, good[i].data, size, &value) == TAPER_OK) {
                taper_val_release(value);
            }
        }
        for (size_t at = 0; at < good[i].size; at++) {
            for (unsigned mask = 1; mask < 256; mask <<= 1) {
                memcpy(copy, good[i].data, good[i].size);
                copy[at] = (char)(copy[at] ^ (char)mask);
                if (read_bytes(f, copy, good[i].size, &value) == TAPER_OK) {
                    taper_val_release(value);
                }
            }
        }
        free(copy);
    }
}

// Setting the type of a list checks each of its items. A short pickle that sets the type of a long list many times must
// not take long.
static void bounds_typing(void **state)
{
    fixture *f = *state;
    for (int times = 1; times <= 1000; times += 999) {
        taper_text text = taper_text_make(&taper_allocator_system);
        taper_text_append(&text, BYTES("(" INTLIST "q\0]("));
        for (int i = 0; i < 1000; i++) {
            taper_text_append(&text, BYTES("K\1"));
        }
        taper_text_append(&text, BYTES("eq\1\x85R"));
        for (int i = 0; i < times; i++) {
            taper_text_append(&text, BYTES("h\0h\1\x85R"));
        }
        taper_text_append(&text, BYTES("t."));
        taper_val value;
        assert_int_equal(read_bytes(f, text.data, text.length, &value), times == 1 ? TAPER_OK : TAPER_ERROR_FILE);
        taper_val_release(value);
        taper_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),         cmocka_unit_test(refuses),
        cmocka_unit_test(tells_where),   cmocka_unit_test(shares_through_the_memo),
        cmocka_unit_test(bounds_depth),  cmocka_unit_test(survives_truncation_and_damage),
        cmocka_unit_test(bounds_typing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
