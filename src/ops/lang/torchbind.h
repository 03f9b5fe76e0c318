// SPDX-License-Identifier: BSD-2-Clause
// Objects of torch.classes that a model makes and calls itself.
#ifndef TAPER_OPS_TORCHBIND_H
#define TAPER_OPS_TORCHBIND_H

#include "ops/call/call.h"

// Runs a method of a class of list_class.inc. All of these methods return None. args are borrowed and do not include
// the object. Returns TAPER_DECLINED if the class has no such method.
typedef taper_status taper_class_function(taper_run *run, taper_object *object, const char *method, taper_val *args,
                                          size_t count);
#define CLASS(id, name, function) taper_class_function function;
#define STATE_CLASS(name)
#include "ops/list/list_class.inc"
#undef CLASS
#undef STATE_CLASS

#define TAPER_TORCHBIND_PREFIX "__torch__.torch.classes."
// Returns true if name is a class of torch.classes that neither this build nor an operator of the host knows.
bool taper_torchbind_is_missing(const char *name);
// Makes an object with one empty slot, for the instruction CREATE_OBJECT. Fails if models cannot make objects of the
// class. *object gets a reference.
TAPER_MUST_USE taper_status taper_torchbind_create(taper_run *run, const taper_class *klass, taper_object **object);
// Calls a method. args are borrowed. If the first one is the object itself, the method does not get it. *result gets a
// reference.
TAPER_MUST_USE taper_status taper_torchbind_call(taper_run *run, taper_object *object, const char *method,
                                                 taper_val *args, size_t count, taper_val *result);

#endif
