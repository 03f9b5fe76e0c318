// SPDX-License-Identifier: BSD-2-Clause
// The table of classes of torch.classes, made from list_class.inc.
#include "ops/lang/torchbind.h"

#include "ops/list/op_config.h"
#include "ops/list/registered.h"

typedef struct bound_class {
    const char *name;
    taper_class_function *function; // function that runs methods; NULL if this build has none for the class
} bound_class;

#ifdef TAPER_WITHOUT_NNAPI // all classes in the list belong to NNAPI, so in a build without NNAPI none has a function
#define CLASS(id, text, code) {.name = text},
#else
#define CLASS(id, text, code) {.name = text TAPER_OP_IF(id, , .function = code)},
#endif
#define STATE_CLASS(text)
static const bound_class classes[] = {
#include "ops/list/list_class.inc"
};
#undef CLASS
#undef STATE_CLASS

// The names of the classes whose objects only contain state, one after the other, each with a final 0.
#define CLASS(id, text, code)
#define STATE_CLASS(text) text "\0"
static const char states[] =
#include "ops/list/list_class.inc"
    ;

static const bound_class *find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof classes / sizeof classes[0]; i++) {
        if (strcmp(classes[i].name, name) == 0) {
            return &classes[i];
        }
    }
    return NULL;
}

static bool is_state(const char *name)
{
    const char *known = states;
    while (*known != '\0' && strcmp(known, name) != 0) {
        known += strlen(known) + 1;
    }
    return *known != '\0';
}

bool taper_torchbind_is_missing(const char *name)
{
    const bound_class *bound = find(name);
    if (name == NULL || strncmp(name, TAPER_TORCHBIND_PREFIX, sizeof TAPER_TORCHBIND_PREFIX - 1) != 0) {
        return false;
    }
#ifdef TAPER_WITH_OPERATORS
    if (bound == NULL && taper_registered_names(name)) {
        return false;
    }
#endif
    return bound != NULL ? bound->function == NULL : !is_state(name);
}

taper_status taper_torchbind_create(taper_run *run, const taper_class *klass, taper_object **object)
{
    *object = NULL;
    const bound_class *bound = klass != NULL ? find(klass->name) : NULL;
    if (bound == NULL || bound->function == NULL) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED, "objects of class %s cannot be made by a model",
                   klass != NULL && klass->name != NULL ? klass->name : "?");
    }
    *object = taper_object_new(run->heap, klass, 1);
    return *object == NULL ? taper_fail_memory(run->error) : TAPER_OK;
}

taper_status taper_torchbind_call(taper_run *run, taper_object *object, const char *method, taper_val *args,
                                  size_t count, taper_val *result)
{
    *result = taper_val_none();
    if (count > 0 && args[0].tag == TAPER_OBJECT && args[0].as.object == object) {
        args++;
        count--;
    }
    // The methods read elements of their arguments, so tensors that are still on a device must be fetched.
    for (size_t i = 0; TAPER_DEVICES && i < count; i++) {
        TAPER_TRY(taper_settle(run, args[i]));
    }
    const char *name = object->klass != NULL ? object->klass->name : NULL;
    const bound_class *bound = find(name);
    const taper_status status =
        bound != NULL && bound->function != NULL ? bound->function(run, object, method, args, count) : TAPER_DECLINED;
    if (status == TAPER_DECLINED) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED, "method %s of class %s is not supported", method,
                   name != NULL ? name : "?");
    }
    return status;
}
