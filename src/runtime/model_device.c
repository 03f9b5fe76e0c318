// SPDX-License-Identifier: BSD-2-Clause
// Chooses the device of a model: the device that the host names, otherwise the device for which the file was prepared.
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "runtime/device.h"
#include "runtime/model.h"

taper_preparer_text taper_preparer_names(bool told)
{
    taper_preparer_text names = {""};
    size_t count = 0, number = 0, used = 0;
    for (const taper_preparer *p = taper_preparers; p->name != NULL; p++) {
        count += !told || p->class_begins != NULL;
    }
    for (const taper_preparer *p = taper_preparers; p->name != NULL && used < sizeof names.text; p++) {
        if (!told || p->class_begins != NULL) {
            const char *before = number == 0 ? "" : number + 1 == count ? " and " : ", ";
            used += (size_t)snprintf(names.text + used, sizeof names.text - used, "%s%s", before, p->name);
            number++;
        }
    }
    return names;
}

#ifndef TAPER_WITHOUT_DEVICES
// Returns the device for which objects of the class are made, or NULL if the class name does not tell.
static const taper_preparer *preparer_of_class(const char *name)
{
    const size_t length = strlen(name);
    for (const taper_preparer *p = taper_preparers; p->name != NULL; p++) {
        const size_t end = p->class_begins != NULL ? strlen(p->class_ends) : 0;
        if (p->class_begins != NULL && strncmp(name, p->class_begins, strlen(p->class_begins)) == 0 && length > end &&
            strcmp(name + length - end, p->class_ends) == 0) {
            return p;
        }
    }
    return NULL;
}

// Finds the device for which a file was prepared. The class of the root, or of objects with the weights of layers,
// tells the device. *left: number of values that may still be visited.
static const taper_preparer *prepared_for(taper_val value, int depth, size_t *left)
{
    enum { MOST_DEPTH = 8 };
    if (value.tag != TAPER_OBJECT || depth == MOST_DEPTH) {
        return NULL;
    }
    const taper_object *object = value.as.object;
    const taper_preparer *found = preparer_of_class(object->klass->name);
    if (found == NULL && taper_class_is_native(object->klass->name)) {
        return NULL;
    }
    for (size_t i = 0; i < object->count && found == NULL && *left != 0; i++) {
        --*left;
        found = prepared_for(object->slots[i], depth + 1, left);
    }
    return found;
}

static const taper_preparer *preparer_of_file(const taper_model *model, const taper_load_options *load)
{
    size_t most_slots = 1 << 16;
    if (load->device != NULL || load->compiler == NULL || model->reference) {
        return NULL;
    }
    const taper_preparer *const found = prepared_for(model->module.root, 0, &most_slots);
    if (found == NULL || (load->barred_devices & TAPER_DEVICE_BIT(found->kind)) != 0) {
        return NULL;
    }
    if (found->packer == TAPER_PACKER_NONE && load->precision == TAPER_PRECISION_BF16) {
        return NULL; // only the CPU computes in bf16; it can run this file, because the file's layers are not packed
                     // for the device
    }
    return found;
}
#else
static const taper_preparer *preparer_of_file(const taper_model *model, const taper_load_options *load)
{
    (void)model, (void)load;
    return NULL;
}
#endif

// Logs that the CPU is used instead of a device.
static void tell_of_absence(const taper_context *context, const taper_preparer *prepared,
                            const taper_device_choice *choice, const char *why)
{
    char line[480];
    taper_device_text text;
    int length;
    if (prepared != NULL) {
        length = snprintf(line, sizeof line, "the file is prepared for %.80s (%.256s): the CPU runs it\n",
                          prepared->name, why);
    } else {
        const char *kind = taper_device_kind_name(choice->kind);
        taper_device_write(choice, kind != NULL ? kind : "", &text);
        length = snprintf(line, sizeof line, "device %s %.256s: the CPU runs the model\n", text.text, why);
    }
    context->log(context->log_user, prepared != NULL ? TAPER_LOG_INFO : TAPER_LOG_WARNING, line, (size_t)length);
}

taper_status taper_model_find_device(taper_model *model, const taper_load_options *load, taper_error *error)
{
    const taper_preparer *const prepared = preparer_of_file(model, load);
    taper_context *const context = model->context;
    taper_device_choice choice;
    taper_device *device;
    const char *why;
    TAPER_TRY(taper_device_choice_read(context, load->device, &choice, error));
    if (prepared != NULL) {
        choice.kind = prepared->kind;
    }
    TAPER_TRY(taper_context_device(context, &choice, load->settings, load->setting_count,
                                   load->precision == TAPER_PRECISION_FP16, &device, &why, error));
    model->precision = device == NULL || device == context->host ? load->precision : TAPER_PRECISION_FP32;
    if (device == NULL) {
        tell_of_absence(context, prepared, &choice, why);
    } else if (TAPER_DEVICES && device != context->host) {
        TAPER_TRY(load->precision == TAPER_PRECISION_BF16 ? taper_no_bf16(device->name, error) : TAPER_OK);
        model->device = device;
        model->device_required = choice.required != 0;
    }
    return TAPER_OK;
}

const char *taper_model_device(const taper_model *model)
{
    return model != NULL && TAPER_DEVICES && model->device != NULL ? model->device->name : taper_host_name();
}
