// SPDX-License-Identifier: BSD-2-Clause
// Lists, parses and checks the options of devices, which are in backends/option_list.inc.
#include "runtime/device_options.h"

#include <string.h>

#include "base/arguments.h"
#include "base/text.h"

#ifndef TAPER_WITHOUT_DEVICES
static const char *const preferences[] = {"default", "low_power", "fast_single_answer", "sustained_speed"};

#define COMMON(id, bits, text)                                                                                         \
    .struct_size = sizeof(taper_option_info), .option = (id), .devices = (bits), .name = (text)
#define FLAG(id, bits, text, first, words)                                                                             \
    {COMMON(id, bits, text), .kind = TAPER_OPTION_FLAG, .most = 1, .initial = (first), .help = (words)},
#define NUMBER(id, bits, text, low, high, first, words)                                                                \
    {COMMON(id, bits, text), .kind = TAPER_OPTION_NUMBER, .least = (low),                                              \
     .most = (high),         .initial = (first),          .help = (words)},
#define CHOICE(id, bits, text, names, first, words)                                                                    \
    {COMMON(id, bits, text),                                                                                           \
     .kind = TAPER_OPTION_CHOICE,                                                                                      \
     .values = (names),                                                                                                \
     .value_count = sizeof names / sizeof *names,                                                                      \
     .most = sizeof names / sizeof *names - 1,                                                                         \
     .initial = (first),                                                                                               \
     .help = (words)},
static const taper_option_info options[] = {
#include "backends/option_list.inc"
};
enum { OPTIONS = sizeof options / sizeof *options };

const taper_option_info *taper_device_option(size_t index)
{
    return index < OPTIONS ? &options[index] : NULL;
}

static const taper_option_info *option_of(taper_option id)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (options[i].option == id) {
            return &options[i];
        }
    }
    return NULL;
}

// Describes the values that an option accepts, such as "level=27 to 31".
static void describe(const taper_option_info *option, taper_text *text)
{
    taper_text_format(text, "%s=", option->name);
    for (size_t v = 0; v < option->value_count; v++) {
        taper_text_format(text, "%s%s", v == 0 ? "" : "|", option->values[v]);
    }
    if (option->kind != TAPER_OPTION_CHOICE) {
        taper_text_format(text, option->kind == TAPER_OPTION_FLAG ? "%lld|%lld" : "%lld to %lld",
                          (long long)option->least, (long long)option->most);
    }
}

static TAPER_COLD taper_status wrong_setting(const char *text, size_t length, taper_error *error)
{
    taper_text all = taper_text_make(&taper_allocator_system);
    for (size_t i = 0; i < OPTIONS; i++) {
        taper_text_string(&all, i == 0 ? "" : ", ");
        describe(&options[i], &all);
    }
    const taper_status status =
        taper_fail(error, TAPER_ERROR_ARGUMENT, "device option \"%.*s\" is none of %s", length < 60 ? (int)length : 60,
                   text, all.failed ? "the options of devices" : taper_text_get(&all));
    taper_text_free(&all);
    return status;
}

static bool read_number(const char *text, size_t length, int64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || i == 9) {
            return false;
        }
        *number = *number * 10 + (text[i] - '0');
    }
    return length != 0;
}

static bool read_value(const taper_option_info *option, const char *text, size_t length, int64_t *value)
{
    for (size_t v = 0; v < option->value_count; v++) {
        if (strlen(option->values[v]) == length && memcmp(option->values[v], text, length) == 0) {
            *value = (int64_t)v;
            return true;
        }
    }
    return option->kind != TAPER_OPTION_CHOICE && read_number(text, length, value) && *value >= option->least &&
           *value <= option->most;
}

static bool read_setting(const char *text, size_t length, taper_device_setting *setting)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const size_t name = strlen(options[i].name);
        if (length > name && memcmp(text, options[i].name, name) == 0 && text[name] == '=') {
            setting->option = options[i].option;
            return read_value(&options[i], text + name + 1, length - name - 1, &setting->value);
        }
    }
    return false;
}

taper_status taper_device_options_parse(const char *text, taper_device_setting *settings, size_t room, size_t *count,
                                        taper_error *error)
{
    TAPER_NEED(count, error);
    *count = 0;
    TAPER_NEED_ARRAY(settings, room, error);
    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        taper_device_setting read;
        if (!read_setting(at, length, &read)) {
            *count = 0;
            return wrong_setting(at, length, error);
        }
        if (*count == room) {
            *count = 0;
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there are more than %zu device options", room);
        }
        settings[(*count)++] = read;
        at += length + (at[length] == ',');
    }
    return TAPER_OK;
}

taper_status taper_settings_check(const taper_device_setting *settings, size_t count, taper_error *error)
{
    TAPER_NEED_ARRAY(settings, count, error);
    for (size_t i = 0; i < count; i++) {
        const taper_option_info *option = option_of(settings[i].option);
        if (option == NULL) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "settings[%zu] is option %d, which no device has", i,
                       (int)settings[i].option);
        }
        if (settings[i].value < option->least || settings[i].value > option->most) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "settings[%zu]: device option %s should be %lld to %lld, not %lld",
                       i, option->name, (long long)option->least, (long long)option->most,
                       (long long)settings[i].value);
        }
    }
    return TAPER_OK;
}

taper_status taper_settings_check_kind(const taper_device_setting *settings, size_t count, taper_device_kind kind,
                                       taper_error *error)
{
    for (size_t i = 0; i < count && taper_device_kind_name(kind) != NULL; i++) {
        const taper_option_info *option = option_of(settings[i].option);
        if (option != NULL && (option->devices & TAPER_DEVICE_BIT(kind)) == 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "device %s has no option %s", taper_device_kind_name(kind),
                       option->name);
        }
    }
    return TAPER_OK;
}
#else // in builds without devices there are no options
const taper_option_info *taper_device_option(size_t index)
{
    (void)index;
    return NULL;
}

taper_status taper_device_options_parse(const char *text, taper_device_setting *settings, size_t room, size_t *count,
                                        taper_error *error)
{
    (void)settings, (void)room;
    TAPER_NEED(count, error);
    *count = 0;
    if (text != NULL && *text != '\0') {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "device option \"%.60s\": this build has no devices", text);
    }
    return TAPER_OK;
}
#endif
