// SPDX-License-Identifier: BSD-2-Clause
// Which device a model runs on: the one that the host names, or the one that its file was prepared for.
#include <stdio.h>
#include <string.h>

#include "runtime/arguments.h"
#include "runtime/device.h"
#include "runtime/model.h"

// The devices that files are prepared for, as taper_load_options.file_devices names them.
static const char *const of_files[] = {"vulkan", "metal", "nnapi"};
enum { OF_FILES = sizeof of_files / sizeof *of_files };

taper_status taper_file_devices_check(const char *list, taper_error *error)
{
    for (const char *at = list; at != NULL && *list != '\0';) {
        const size_t length = strcspn(at, ",");
        bool known = false;
        for (size_t i = 0; i < OF_FILES && !known; i++) {
            known = strlen(of_files[i]) == length && memcmp(of_files[i], at, length) == 0;
        }
        if (!known) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "file_devices: files are prepared for vulkan, metal and nnapi, not for \"%.*s\"",
                       (int)(length < 80 ? length : 80), at);
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

// PyTorch's converter for NNAPI leaves a module of one class, whose name may be mangled.
static bool is_nnapi_module(const char *name)
{
    static const char package[] = "__torch__.torch.backends._nnapi.prepare.", last[] = ".NnapiModule";
    const size_t length = strlen(name);
    return strncmp(name, package, sizeof package - 1) == 0 && length > sizeof last - 1 &&
           strcmp(name + length - (sizeof last - 1), last) == 0;
}

// Files prepared for a GPU have their layers' weights in objects of its classes, at the root; those for NNAPI have a
// module there.
static const char *prepared_for(taper_val value, int depth, size_t *left)
{
    enum { MOST_DEPTH = 8 };
    static const char classes[] = "__torch__.torch.classes.";
    if (value.tag != TAPER_OBJECT || depth == MOST_DEPTH) {
        return NULL;
    }
    const taper_object *object = value.as.object;
    const char *name = object->klass->name;
    if (strncmp(name, classes, sizeof classes - 1) == 0) {
        name += sizeof classes - 1;
        return strncmp(name, "vulkan.", 7) == 0 ? "vulkan" : strncmp(name, "metal.", 6) == 0 ? "metal" : NULL;
    }
    const char *found = is_nnapi_module(name) ? of_files[2] : NULL;
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
    const char *const found = prepared_for(model->module.root, 0, &most_slots);
    if (found == of_files[2] && load->precision != NULL && strcmp(load->precision, "bf16") == 0) {
        return NULL; // which the CPU has
    }
    return found != NULL && (load->file_devices == NULL || list_has(load->file_devices, found)) ? found : NULL;
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
    return model != NULL && TAPER_DEVICES && model->device != NULL ? model->device->name : "cpu";
}
