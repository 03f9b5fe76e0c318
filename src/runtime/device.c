// SPDX-License-Identifier: BSD-2-Clause
// Names and opens devices. A device is opened when it is first requested, and remains open as long as the context.
#include "runtime/device.h"
#include "ops/kernels/precisions.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "platform/platform.h"
#include "runtime/device_options.h"

#define BACKEND(name) extern const taper_backend taper_backend_##name;
#include "backends/backend_list.inc"
#undef BACKEND

static const taper_backend *const built_in[] = {
#define BACKEND(name) &taper_backend_##name,
#include "backends/backend_list.inc"
#undef BACKEND
    NULL};

const char *taper_host_name(void)
{
    return built_in[0]->name;
}

taper_device_kind taper_host_kind(void)
{
    return built_in[0]->kind;
}

bool taper_is_host(const taper_device_choice *choice)
{
    return choice->kind == taper_host_kind() && choice->index == 0 && choice->name[0] == '\0';
}

static const taper_backend *backend_of(const taper_context *context, taper_device_kind kind)
{
    const taper_backend *const *list = context->backends != NULL ? context->backends : built_in;
    while (*list != NULL && (*list)->kind != kind) {
        list++;
    }
    return *list;
}

static const char *kind_name(const taper_context *context, taper_device_kind kind)
{
    const taper_backend *backend = backend_of(context, kind);
    return backend != NULL ? backend->name : taper_device_kind_name(kind);
}

taper_status taper_device_choice_read(const taper_context *context, const taper_device_choice *given,
                                      taper_device_choice *choice, taper_error *error)
{
    TAPER_TRY(taper_struct_read(given, "taper_device_choice", choice, sizeof *choice, error));
    if (given == NULL) {
        choice->kind = taper_host_kind();
    }
    if (kind_name(context, choice->kind) == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "kind %d is no taper_device_kind", (int)choice->kind);
    }
    // The name is not checked in builds with only the CPU, which never read the name.
    if (TAPER_DEVICES && memchr(choice->name, '\0', sizeof choice->name) == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "taper_device_choice.name has no zero byte at its end");
    }
    return TAPER_OK;
}

static taper_status absent(const taper_context *context, const taper_device_choice *choice, const char *why,
                           taper_error *error)
{
    taper_device_text text;
    if (choice->required == 0) {
        return TAPER_OK;
    }
    taper_device_write(choice, kind_name(context, choice->kind), &text);
    TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "device %s %s; where it is not required (\"!\") the CPU does it",
               text.text, why);
}

static const char unknown[] = "is not part of this build";

#ifdef TAPER_WITHOUT_DEVICES // the version for builds with only the CPU
taper_status taper_context_device(taper_context *context, const taper_device_choice *choice,
                                  const taper_device_setting *settings, size_t setting_count, bool half,
                                  taper_device **device, const char **why, taper_error *error)
{
    (void)settings, (void)setting_count; // the CPU has no settings
    (void)half;                          // for the CPU, the model handles the precision
    *why = unknown;
    *device = taper_is_host(choice) ? context->host : NULL;
    return *device != NULL ? TAPER_OK : absent(context, choice, unknown, error);
}

taper_status taper_device_check(taper_context *context, const taper_device_choice *choice, taper_error *error)
{
    taper_device *device;
    const char *why;
    return taper_context_device(context, choice, NULL, 0, false, &device, &why, error);
}

taper_status taper_context_open_host(taper_context *context, taper_error *error)
{
    context->host = taper_alloc_zeroed(&context->allocator, sizeof *context->host);
    if (context->host == NULL) {
        return taper_fail_memory(error);
    }
    context->host->backend = built_in[0];
    return TAPER_OK;
}

void taper_context_close_devices(taper_context *context)
{
    taper_free(&context->allocator, context->host, sizeof *context->host);
}

taper_status taper_context_devices(taper_context *context, int (*each)(void *user, const taper_device_info *info),
                                   void *user, taper_error *error)
{
    const taper_device_info info = {.struct_size = sizeof info,
                                    .kind = taper_host_kind(),
                                    .name = taper_host_name(),
                                    .title = "",
                                    .description = ""};
    TAPER_NEED(context, error);
    TAPER_NEED(each, error);
    (void)each(user, &info);
    return TAPER_OK;
}
#else
enum { MOST_SETTINGS = 32 };

typedef struct opened {
    taper_memory_owner owner; // must be the first member, because the owner is cast to this struct
    taper_device device;
    taper_allocator allocator; // copy of the context's allocator, because the device may outlive the context
    struct opened *next;
    size_t bytes;
    const char *why; // reason why the device is missing; NULL if it is open
    taper_device_setting settings[MOST_SETTINGS];
    taper_device_text name;
    char called[sizeof((taper_device_choice *)NULL)->name];
} opened;

// The parameters with which a device is opened.
typedef struct opening {
    const taper_device_choice *choice;
    taper_device_setting settings[MOST_SETTINGS];
    size_t count;
} opening;

static const taper_backend *find_backend(const taper_context *context, const taper_device_choice *choice)
{
    const taper_backend *backend = backend_of(context, choice->kind);
    const bool first = choice->index == 0 && choice->name[0] == '\0';
    // Only the first backend may lack an open function: it is the CPU, which exists once.
    return backend != NULL && (backend->open != NULL || first) ? backend : NULL;
}

// Returns the entry of the device if it was requested before with the same parameters, even if the device could not be
// opened. Otherwise returns NULL.
static opened *find_opened(const taper_context *context, const taper_backend *backend, const opening *how)
{
    opened *o = context->devices;
    for (; o != NULL; o = o->next) {
        const taper_device *d = &o->device;
        if (d->backend == backend && d->index == how->choice->index &&
            strcmp(d->called != NULL ? d->called : "", how->choice->name) == 0 && d->setting_count == how->count &&
            (how->count == 0 || memcmp(d->settings, how->settings, how->count * sizeof *how->settings) == 0)) {
            break;
        }
    }
    return o;
}

static void close_device(taper_memory_owner *owner)
{
    opened *o = (opened *)owner;
    if (o->why == NULL && o->device.backend->close != NULL) {
        o->device.backend->close(&o->device);
    }
    const taper_allocator allocator = o->allocator;
    taper_free(&allocator, o, o->bytes);
}

static taper_status open_device(taper_context *context, const taper_backend *backend, const opening *how, opened **made,
                                taper_error *error)
{
    const taper_allocator *allocator = &context->allocator;
    const size_t before = taper_round_up(sizeof(opened), 16);
    opened *o = taper_alloc_zeroed(allocator, before + backend->state_bytes);
    if (o == NULL) {
        return taper_fail_memory(error);
    }
    taper_device_write(how->choice, backend->name, &o->name);
    memcpy(o->called, how->choice->name, sizeof o->called);
    memcpy(o->settings, how->settings, sizeof o->settings);
    o->bytes = before + backend->state_bytes;
    taper_refs_init(&o->owner.refs);
    o->owner.close = close_device;
    o->allocator = *allocator;
    o->device = (taper_device){.backend = backend,
                               .name = o->name.text,
                               .index = how->choice->index,
                               .called = o->called[0] != '\0' ? o->called : NULL,
                               .settings = o->settings,
                               .setting_count = how->count,
                               .cache_dir = taper_context_cache_dir(context),
                               .owner = &o->owner,
                               .allocator = &o->allocator,
                               .cpu = context->cpu,
                               .state = (char *)o + before};
    const taper_status status = backend->open != NULL ? backend->open(&o->device, &o->why, error) : TAPER_OK;
    if (status == TAPER_DECLINED || status == TAPER_DEVICE_LOST) {
        o->why = o->why != NULL ? o->why : "is not there";
    } else if (status != TAPER_OK) {
        taper_free(allocator, o, o->bytes);
        return status;
    }
    o->next = context->devices;
    context->devices = o;
    *made = o;
    return TAPER_OK;
}

taper_status taper_device_check(taper_context *context, const taper_device_choice *choice, taper_error *error)
{
    return find_backend(context, choice) != NULL ? TAPER_OK : absent(context, choice, unknown, error);
}

// Collects the settings that this kind of device has. The setting for half precision comes first, so that the host's
// settings override it.
static taper_status settle(const taper_backend *backend, const taper_device_setting *settings, size_t count, bool half,
                           opening *how, taper_error *error)
{
    if (backend->open == NULL) { // the CPU has no settings, and its packed weights belong to the model
        return taper_settings_check_kind(settings, count, backend->kind, error);
    }
    if (half && backend->half == 0) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "device %s has no precision fp16", backend->name);
    }
    if (count > MOST_SETTINGS - 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there are more than %d settings", MOST_SETTINGS - 1);
    }
    TAPER_TRY(taper_settings_check_kind(settings, count, backend->kind, error));
    if (half) {
        how->settings[how->count++] = (taper_device_setting){backend->half, 1};
    }
    for (size_t i = 0; i < count; i++) { // copied member by member, because find_opened compares all bytes
        how->settings[how->count].option = settings[i].option;
        how->settings[how->count++].value = settings[i].value;
    }
    return TAPER_OK;
}

taper_status taper_context_device(taper_context *context, const taper_device_choice *choice,
                                  const taper_device_setting *settings, size_t setting_count, bool half,
                                  taper_device **device, const char **why, taper_error *error)
{
    *device = NULL;
    *why = unknown;
    const taper_backend *backend = find_backend(context, choice);
    if (backend != NULL) {
        opening how;
        memset(&how, 0, sizeof how);
        how.choice = choice;
        TAPER_TRY(settle(backend, settings, setting_count, half, &how, error));
        taper_mutex_lock(context->device_lock);
        opened *o = find_opened(context, backend, &how);
        const taper_status status = o != NULL ? TAPER_OK : open_device(context, backend, &how, &o, error);
        taper_mutex_unlock(context->device_lock);
        TAPER_TRY(status);
        const bool lost = atomic_load_explicit(&o->owner.lost, memory_order_relaxed);
        *why = lost ? "does not work any more" : o->why;
        *device = *why == NULL ? &o->device : NULL;
    }
    return *device != NULL ? TAPER_OK : absent(context, choice, *why, error);
}

taper_status taper_context_open_host(taper_context *context, taper_error *error)
{
    const char *why;
    taper_device_choice choice;
    TAPER_TRY(taper_device_choice_read(context, NULL, &choice, error));
    return taper_context_device(context, &choice, NULL, 0, false, &context->host, &why, error);
}

taper_status taper_context_set_backends(taper_context *context, const taper_backend *const *backends,
                                        taper_error *error)
{
    taper_context_close_devices(context);
    context->backends = backends;
    return taper_context_open_host(context, error);
}

void taper_context_close_devices(taper_context *context)
{
    context->host = NULL;
    while (context->devices != NULL) {
        opened *o = context->devices;
        context->devices = o->next;
        if (taper_refs_drop(&o->owner.refs)) { // if memory of the device is still in use, the device is closed when the
                                               // last such memory is freed
            close_device(&o->owner);
        }
    }
}

// ---- listing devices

// Describes the CPU by the instruction sets that the context uses.
static void describe_host(const taper_context *context, taper_device_words *words)
{
    const char *name;
    uint64_t mask;
    size_t used = 0;
    for (unsigned i = 0; (name = taper_instruction_set(i, &mask)) != NULL; i++) {
        mask &= ~TAPER_CPU_NONE;
        if ((context->cpu & mask) == mask && used < sizeof words->facts - 64) {
            used += (size_t)snprintf(words->facts + used, 64, "%s%.40s", used == 0 ? "" : ", ", name);
        }
    }
}

static int tell_device(const taper_context *context, const taper_backend *backend, const char *name,
                       const taper_device *device, const char *why,
                       int (*each)(void *user, const taper_device_info *info), void *user)
{
    char by_name[320];
    taper_device_words words = {.called = ""};
    if (device == context->host) {
        describe_host(context, &words);
    } else if (device != NULL && backend->describe != NULL) {
        backend->describe(device, &words);
        if (words.by_name) {
            snprintf(by_name, sizeof by_name, "%s:%s", backend->name, words.called);
            by_name[strlen(backend->name) + 1 + strcspn(words.called, " (")] = '\0';
            name = by_name;
        }
    }
    const taper_device_info info = {.struct_size = sizeof info,
                                    .kind = backend->kind,
                                    .name = name,
                                    .title = words.called,
                                    .description = words.facts,
                                    .problem = why};
    return each(user, &info);
}

taper_status taper_context_devices(taper_context *context, int (*each)(void *user, const taper_device_info *info),
                                   void *user, taper_error *error)
{
    enum { MOST = 64 };
    TAPER_NEED(context, error);
    TAPER_NEED(each, error);
    const taper_backend *const *all = context->backends != NULL ? context->backends : built_in;
    for (; *all != NULL; all++) {
        const taper_backend *backend = *all;
        for (unsigned index = 0; index < MOST; index++) {
            const taper_device_choice choice = {.struct_size = sizeof choice, .kind = backend->kind, .index = index};
            const taper_device_setting listing = {backend->listing, 1};
            taper_device_text name;
            taper_device *device;
            const char *why;
            taper_device_write(&choice, backend->name, &name);
            TAPER_TRY(
                taper_context_device(context, &choice, &listing, backend->listing != 0, false, &device, &why, error));
            if (device == NULL && index != 0) {
                break;
            }
            if (tell_device(context, backend, name.text, device, device == NULL ? why : NULL, each, user) != 0) {
                return TAPER_OK;
            }
            if (device == NULL || device == context->host) { // lists a missing device, and the CPU, only once
                break;
            }
        }
    }
    return TAPER_OK;
}
#endif

taper_kernel taper_context_kernel(const taper_context *context, const taper_op *op)
{
    taper_device *const host = context->host;
    return host != NULL && host->backend->kernel != NULL ? host->backend->kernel(host, op) : NULL;
}

taper_status taper_precision_check(taper_precision precision, const taper_context *context,
                                   const taper_device_choice *choice, taper_error *error)
{
    const bool host = taper_is_host(choice);
    if ((unsigned)precision > TAPER_PRECISION_BF16) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "precision %d is no taper_precision", (int)precision);
    }
    if (!taper_gemm_has(precision) && host) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "precision %s is not part of this build: use fp32",
                   taper_precision_name(precision));
    }
    return precision != TAPER_PRECISION_BF16 || host ? TAPER_OK
                                                     : taper_no_bf16(kind_name(context, choice->kind), error);
}

taper_status taper_no_bf16(const char *device, taper_error *error)
{
    TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "precision bf16 is the CPU's: use fp32 or fp16 on device %.100s",
               device);
}

taper_status taper_value_to_device(taper_value *value, const taper_device_choice *device, taper_value **moved,
                                   taper_error *error)
{
    taper_device_choice choice;
    TAPER_NEED_OUT(moved, error);
    TAPER_NEED(value, error);
    TAPER_NEED(device, error);
    TAPER_TRY(taper_struct_read(device, "taper_device_choice", &choice, sizeof choice, error));
    if (!taper_is_host(&choice)) {
        const char *name = taper_device_kind_name(choice.kind);
        TAPER_FAIL(error, name != NULL ? TAPER_ERROR_UNSUPPORTED : TAPER_ERROR_ARGUMENT,
                   "values stay on the CPU: there is no device %s for them", name != NULL ? name : "of that kind");
    }
    *moved = taper_value_retain(value);
    return TAPER_OK;
}
