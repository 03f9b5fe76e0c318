// SPDX-License-Identifier: BSD-2-Clause
// Names of devices and precisions; devices are opened when they are first asked for, and stay open with the context.
#include "runtime/device.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "compiler_hook.h"
#include "platform/platform.h"
#include "runtime/arguments.h"

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

taper_status taper_device_read(const char *text, taper_device_name *name, taper_error *error)
{
    static const char letters[] = "-.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    static const char *const small = letters + 28, *const digits = small + 27;
    text = text != NULL ? text : taper_host_name();
    *name = (taper_device_name){.text = text, .length = strspn(text, small)};
    const char *rest = text + name->length;
    bool wrong = name->length == 0;
    if (*rest == ':') {
        const size_t count = strspn(rest + 1, letters), number = strspn(rest + 1, digits);
        for (size_t i = 1; i <= count && count == number; i++) {
            name->index = name->index > 999 ? UINT_MAX : name->index * 10 + (unsigned)(rest[i] - '0');
        }
        name->called = count != number ? (size_t)(rest + 1 - text) : 0;
        wrong |= count == 0;
        rest += 1 + count;
    }
    name->shown = (size_t)(rest - text);
    name->insists = *rest == '!';
    if (wrong || rest[name->insists] != '\0') {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "device \"%.100s\" should be NAME[:INDEX][!], as \"%s\" or \"%s:1!\", or NAME:DEVICE[!]", text,
                   taper_preparers[0].name, taper_preparers[1].name);
    }
    return TAPER_OK;
}

taper_status taper_device_options_check(const char *options, taper_error *error)
{
    for (const char *at = options; at != NULL && *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "device_options \"%.100s\" should be NAME=VALUE,…", options);
        }
    }
    return TAPER_OK;
}

static taper_status absent(const taper_device_name *name, const char *why, taper_error *error)
{
    return !name->insists ? TAPER_OK
                          : taper_fail(error, TAPER_ERROR_UNSUPPORTED, "device %.*s %s; without \"!\" the CPU does it",
                                       (int)name->shown, name->text, why);
}

static const char unknown[] = "is not part of this build";

static bool is_host(const taper_device_name *name)
{
    const char *host = taper_host_name();
    return name->length == strlen(host) && memcmp(name->text, host, name->length) == 0 && name->index == 0 &&
           name->called == 0;
}

#ifdef TAPER_WITHOUT_DEVICES // the CPU alone
taper_status taper_context_device(taper_context *context, const char *text, const char *options, bool half,
                                  taper_device **device, const char **why, taper_error *error)
{
    taper_device_name name;
    (void)options; // the CPU has none
    (void)half;    // which the model knows
    *why = unknown;
    TAPER_TRY(taper_device_read(text, &name, error));
    *device = is_host(&name) ? context->host : NULL;
    return *device != NULL ? TAPER_OK : absent(&name, unknown, error);
}

taper_status taper_device_check(taper_context *context, const char *text, taper_error *error)
{
    taper_device *device;
    const char *why;
    return taper_context_device(context, text, NULL, false, &device, &why, error);
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

taper_status taper_context_devices(taper_context *context, int (*each)(void *user, const taper_device_facts *facts),
                                   void *user, taper_error *error)
{
    const taper_device_facts facts = {
        .struct_size = sizeof facts, .name = taper_host_name(), .called = "", .facts = ""};
    TAPER_NEED(context, error);
    TAPER_NEED(each, error);
    (void)each(user, &facts);
    return TAPER_OK;
}
#else
typedef struct opened {
    taper_memory_owner owner; // first
    taper_device device;
    taper_allocator allocator; // outlives the context with it
    struct opened *next;
    size_t bytes;
    const char *why; // it is not there; NULL: it is
    char name[];
} opened;

static const taper_backend *find_backend(const taper_context *context, const taper_device_name *name)
{
    const taper_backend *const *list = context->backends != NULL ? context->backends : built_in;
    for (; *list != NULL; list++) {
        if (strlen((*list)->name) == name->length && memcmp((*list)->name, name->text, name->length) == 0) {
            const bool first = name->index == 0 && name->called == 0;
            return (*list)->open != NULL || first ? *list : NULL; // there is one CPU
        }
    }
    return NULL;
}

// One that was looked for before, there or not.
static opened *find_opened(const taper_context *context, const taper_backend *backend, const taper_device_name *name,
                           const char *options)
{
    const size_t called = name->called != 0 ? name->shown - name->called : 0;
    opened *o = context->devices;
    for (; o != NULL; o = o->next) {
        const taper_device *d = &o->device;
        if (d->backend == backend && d->index == name->index && (d->called != NULL ? strlen(d->called) : 0) == called &&
            (called == 0 || memcmp(d->called, name->text + name->called, called) == 0) &&
            strcmp(d->options != NULL ? d->options : "", options) == 0) {
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

static taper_status open_device(taper_context *context, const taper_backend *backend, const taper_device_name *name,
                                const char *options, opened **made, taper_error *error)
{
    const taper_allocator *allocator = &context->allocator;
    const size_t length = strlen(options), text = (sizeof(opened) + name->shown + length + 2 + 15) / 16 * 16;
    opened *o = taper_alloc_zeroed(allocator, text + backend->state_bytes);
    if (o == NULL) {
        return taper_fail_memory(error);
    }
    memcpy(o->name, name->text, name->shown);
    memcpy(o->name + name->shown + 1, options, length);
    o->bytes = text + backend->state_bytes;
    taper_refs_init(&o->owner.refs);
    o->owner.close = close_device;
    o->allocator = *allocator;
    o->device = (taper_device){.backend = backend,
                               .name = o->name,
                               .index = name->index,
                               .called = name->called != 0 ? o->name + name->called : NULL,
                               .options = length != 0 ? o->name + name->shown + 1 : NULL,
                               .cache_dir = taper_context_cache_dir(context),
                               .owner = &o->owner,
                               .allocator = &o->allocator,
                               .cpu = context->cpu,
                               .state = (char *)o + text};
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

taper_status taper_device_check(taper_context *context, const char *text, taper_error *error)
{
    taper_device_name name;
    TAPER_TRY(taper_device_read(text, &name, error));
    return find_backend(context, &name) != NULL ? TAPER_OK : absent(&name, unknown, error);
}

taper_status taper_context_device(taper_context *context, const char *text, const char *options, bool half,
                                  taper_device **device, const char **why, taper_error *error)
{
    taper_device_name name;
    *device = NULL;
    options = options != NULL ? options : "";
    *why = unknown;
    TAPER_TRY(taper_device_read(text, &name, error));
    const taper_backend *backend = find_backend(context, &name);
    if (backend != NULL) {
        char all[256];
        if (backend->open == NULL && *options != '\0') {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "device_options: device %s has none", backend->name);
        }
        if (half && backend->open != NULL) { // the CPU's weights are the model's
            if (backend->half == NULL) {
                TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "device %s has no precision fp16", backend->name);
            }
            const int length = snprintf(all, sizeof all, "%s%s%s", backend->half, *options != '\0' ? "," : "", options);
            if (length < 0 || (size_t)length >= sizeof all) {
                TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "device_options are longer than there is room for");
            }
            options = all;
        }
        taper_mutex_lock(context->device_lock);
        opened *o = find_opened(context, backend, &name, options);
        const taper_status status = o != NULL ? TAPER_OK : open_device(context, backend, &name, options, &o, error);
        taper_mutex_unlock(context->device_lock);
        TAPER_TRY(status);
        const bool lost = atomic_load_explicit(&o->owner.lost, memory_order_relaxed);
        *why = lost ? "does not work any more" : o->why;
        *device = *why == NULL ? &o->device : NULL;
    }
    return *device != NULL ? TAPER_OK : absent(&name, *why, error);
}

taper_status taper_context_open_host(taper_context *context, taper_error *error)
{
    const char *why;
    return taper_context_device(context, NULL, NULL, false, &context->host, &why, error);
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
        if (taper_refs_drop(&o->owner.refs)) { // else with the last of its memory
            close_device(&o->owner);
        }
    }
}

// ---- what there is

// Of the CPU, the instruction sets that are used.
static void describe_host(const taper_context *context, taper_device_words *words)
{
    const char *name;
    uint64_t mask;
    size_t used = 0;
    for (unsigned i = 0; (name = taper_cpu_set(i, &mask)) != NULL; i++) {
        mask &= ~TAPER_CPU_NONE;
        if ((taper_context_cpu_features(context) & mask) == mask && used < sizeof words->facts - 64) {
            used += (size_t)snprintf(words->facts + used, 64, "%s%.40s", used == 0 ? "" : ", ", name);
        }
    }
}

static int tell_device(const taper_context *context, const taper_backend *backend, const char *name,
                       const taper_device *device, const char *why,
                       int (*each)(void *user, const taper_device_facts *facts), void *user)
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
    const taper_device_facts facts = {
        .struct_size = sizeof facts, .name = name, .called = words.called, .facts = words.facts, .why = why};
    return each(user, &facts);
}

taper_status taper_context_devices(taper_context *context, int (*each)(void *user, const taper_device_facts *facts),
                                   void *user, taper_error *error)
{
    enum { MOST = 64 };
    TAPER_NEED(context, error);
    TAPER_NEED(each, error);
    const taper_backend *const *all = context->backends != NULL ? context->backends : built_in;
    for (; *all != NULL; all++) {
        const taper_backend *backend = *all;
        for (unsigned index = 0; index < MOST; index++) {
            char name[80];
            taper_device *device;
            const char *why;
            snprintf(name, sizeof name, index == 0 ? "%s" : "%s:%u", backend->name, index);
            TAPER_TRY(taper_context_device(context, name, backend->listing, false, &device, &why, error));
            if (device == NULL && index != 0) {
                break;
            }
            if (tell_device(context, backend, name, device, device == NULL ? why : NULL, each, user) != 0) {
                return TAPER_OK;
            }
            if (device == NULL || device == context->host) { // which is one
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

taper_status taper_precision_read(const char *text, const char *device, taper_precision *precision, taper_error *error)
{
    static const char names[][5] = {
        [TAPER_PRECISION_fp32] = "fp32", [TAPER_PRECISION_fp16] = "fp16", [TAPER_PRECISION_bf16] = "bf16"};
    *precision = TAPER_PRECISION_fp32;
    while (text != NULL && strcmp(text, names[*precision]) != 0) {
        if (++*precision > TAPER_PRECISION_bf16) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "precision \"%.100s\" should be fp32, fp16 or bf16", text);
        }
    }
    taper_device_name name;
    TAPER_TRY(taper_device_read(device, &name, error));
    if (!TAPER_WITH_HALVES && *precision != TAPER_PRECISION_fp32 && is_host(&name)) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "precision %s is not part of this build: use fp32", text);
    }
    return *precision != TAPER_PRECISION_bf16 || is_host(&name) ? TAPER_OK : taper_no_bf16(device, error);
}

taper_status taper_no_bf16(const char *device, taper_error *error)
{
    TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "precision bf16 is the CPU's: use fp32 or fp16 on device %.100s",
               device);
}

taper_status taper_value_to_device(taper_value *value, const char *device, taper_value **moved, taper_error *error)
{
    taper_device_name name;
    TAPER_NEED_OUT(moved, error);
    TAPER_NEED(value, error);
    TAPER_NEED(device, error);
    TAPER_TRY(taper_device_read(device, &name, error));
    if (!is_host(&name)) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "device %.100s is not part of this build: the value stays on the CPU", device);
    }
    *moved = taper_value_retain(value);
    return TAPER_OK;
}
