// SPDX-License-Identifier: BSD-2-Clause
// Objects of torch.classes that a model makes and calls itself.
#ifndef TAPER_OPS_TORCHBIND_H
#define TAPER_OPS_TORCHBIND_H

#include "ops/call/call.h"

// A method of a class of list_class.inc, which returns None; args (borrowed) are without the object. TAPER_DECLINED
// when the class has no such method.
typedef taper_status taper_class_function(taper_run *run, taper_object *object, const char *method, taper_val *args,
                                          size_t count);
#define CLASS(id, name, function) taper_class_function function;
#define STATE_CLASS(name)
#include "ops/list/list_class.inc"
#undef CLASS
#undef STATE_CLASS

#define TAPER_TORCHBIND_PREFIX "__torch__.torch.classes."
// Is this the name of a class of torch.classes of which this build has no functions, and no operator of the host names
// it?
bool taper_torchbind_is_missing(const char *name);
// CREATE_OBJECT: an object with one empty slot. Fails when models cannot make objects of the class.
TAPER_MUST_USE taper_status taper_torchbind_create(taper_run *run, const taper_class *klass, taper_object **object);
// A method call; args (borrowed) may start with the object itself. *result gets a reference.
TAPER_MUST_USE taper_status taper_torchbind_call(taper_run *run, taper_object *object, const char *method,
                                                 taper_val *args, size_t count, taper_val *result);

#endif
