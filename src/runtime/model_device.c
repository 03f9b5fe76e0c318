// SPDX-License-Identifier: BSD-2-Clause
// Which device a model runs on: the one that the host names, or the one that its file was prepared for.
#include <stdio.h>
#include <string.h>

#include "runtime/arguments.h"
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

taper_status taper_file_devices_check(const char *list, taper_error *error)
{
    for (const char *at = list; at != NULL && *list != '\0';) {
        const size_t length = strcspn(at, ",");
        bool known = false;
        for (const taper_preparer *p = taper_preparers; p->name != NULL && !known; p++) {
            known = p->class_begins != NULL && strlen(p->name) == length && memcmp(p->name, at, length) == 0;
        }
        if (!known) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "file_devices: files are prepared for %s, not for \"%.*s\"",
                       taper_preparer_names(true).text, (int)(length < 80 ? length : 80), at);
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return TAPER_OK;
}

#ifndef TAPER_WITHOUT_DEVICES
// Whether a list of names with commas between has this one.
static bool list_has(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

// For whom objects of that class are; NULL: it does not tell.
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

// Files prepared for a device have a module of one of its classes at the root, or their layers' weights in objects of
// such classes.
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

static const char *device_of_file(const taper_model *model, const taper_load_options *load)
{
    size_t most_slots = 1 << 16;
    if (load->device != NULL || load->compiler == NULL || model->reference) {
        return NULL;
    }
    const taper_preparer *const found = prepared_for(model->module.root, 0, &most_slots);
    if (found == NULL || (load->file_devices != NULL && !list_has(load->file_devices, found->name))) {
        return NULL;
    }
    if (found->packer == TAPER_PACKER_NONE && load->precision != NULL && strcmp(load->precision, "bf16") == 0) {
        return NULL; // which the CPU has, and it has plain layers
    }
    return found->name;
}
#else
static const char *device_of_file(const taper_model *model, const taper_load_options *load)
{
    (void)model, (void)load;
    return NULL;
}
#endif

taper_status taper_model_find_device(taper_model *model, const taper_load_options *load, taper_error *error)
{
    const char *const prepared = device_of_file(model, load), *name = prepared != NULL ? prepared : load->device;
    taper_precision precision;
    const taper_context *context = model->context;
    taper_device *device;
    const char *why;
    char line[400];
    TAPER_TRY(taper_precision_read(load->precision, load->device, &precision, error));
    TAPER_TRY(taper_context_device(model->context, name, load->device_options, precision == TAPER_PRECISION_fp16,
                                   &device, &why, error));
    model->precision = device == NULL || device == context->host ? precision : TAPER_PRECISION_fp32;
    if (device == NULL) {
        const int length =
            prepared != NULL
                ? snprintf(line, sizeof line, "the file is prepared for %.80s (%.256s): the CPU runs it\n", name, why)
                : snprintf(line, sizeof line, "device %.80s %.256s: the CPU runs the model\n", name, why);
        context->log(context->log_user, prepared != NULL ? TAPER_LOG_INFO : TAPER_LOG_WARNING, line, (size_t)length);
    } else if (TAPER_DEVICES && device != context->host) {
        TAPER_TRY(precision == TAPER_PRECISION_bf16 ? taper_no_bf16(name, error) : TAPER_OK); // the file's own device
        model->device = device;
        model->insists = strchr(name, '!') != NULL;
    }
    return TAPER_OK;
}

const char *taper_model_device(const taper_model *model)
{
    return model != NULL && TAPER_DEVICES && model->device != NULL ? model->device->name : taper_host_name();
}
