// SPDX-License-Identifier: BSD-2-Clause
// Objects of torch.classes that a model makes and calls itself.
#ifndef TAPER_OPS_TORCHBIND_H
#define TAPER_OPS_TORCHBIND_H

#include "ops/call.h"

// CREATE_OBJECT: an object with one empty slot. Fails when models cannot make objects of the class.
TAPER_MUST_USE taper_status taper_torchbind_create(taper_run *run, const taper_class *klass, taper_object **object);
// A method call; args (borrowed) may start with the object itself. *result gets a reference.
TAPER_MUST_USE taper_status taper_torchbind_call(taper_run *run, taper_object *object, const char *method,
                                                 taper_val *args, size_t count, taper_val *result);

#endif
