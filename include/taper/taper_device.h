/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Devices: lists those of a machine and what can be set about them, and reads the text that command lines and
 * environment variables name them by. A program that runs models on the CPU, or on one known device, needs taper.h
 * only. The conventions of taper.h hold here.
 */
#ifndef TAPER_TAPER_DEVICE_H
#define TAPER_TAPER_DEVICE_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the devices of this machine ---- */

/* A device that models may be asked to run on. The struct and its texts are valid during the call of each(). */
typedef struct taper_device_info {
    size_t struct_size;      /* of the struct that the library fills */
    taper_device_kind kind;  /* of the device */
    const char *name;        /* text that chooses the device, for taper_device_parse: "cpu", "vulkan:1" */
    const char *title;       /* name that the device gives itself; "": it gives none */
    const char *description; /* what the device can do and how Taper uses it, in words; "": nothing is known */
    const char *problem;     /* the reason why no model runs there; NULL: models do */
} taper_device_info;

/* Calls each(user, info) for every device of this build's backends, in their order, until each returns another number
 * than 0. A backend without a device is reported once, with its problem. GPUs whose drivers compute on the CPU are
 * listed by the name that chooses them. The function opens the devices, which takes as long as their drivers need, and
 * the context is busy during the call: each() must not load models into it. */
TAPER_API TAPER_MUST_USE taper_status taper_context_devices(taper_context *context,
                                                            int (*each)(void *user, const taper_device_info *info),
                                                            void *user, taper_error *error);

/* Returns the name of a kind, "vulkan", or NULL if this version does not know the kind. */
TAPER_API const char *taper_device_kind_name(taper_device_kind kind);

/* ---- what can be set about a device ---- */

typedef enum taper_option_kind {
    TAPER_OPTION_FLAG = 0,   /* 0 or 1 */
    TAPER_OPTION_NUMBER = 1, /* an integer from `least` to `most` */
    TAPER_OPTION_CHOICE = 2  /* the number of one of `values` */
} taper_option_kind;

typedef struct taper_option_info {
    size_t struct_size;  /* of the struct that the library fills */
    taper_option option; /* for taper_device_setting.option */
    uint32_t devices;    /* kinds of devices that have the option, TAPER_DEVICE_BIT()s joined by | */
    const char *name;    /* "preference" */
    taper_option_kind kind;
    const char *const *values; /* names of a choice's values, by number; NULL for other kinds */
    size_t value_count;        /* of values */
    int64_t least, most;       /* the smallest and the largest value */
    int64_t initial;           /* the value if nothing is set; -1: Taper chooses one for the device */
    const char *help;          /* what the option does, in one sentence */
} taper_option_info;

/* Returns option number `index` of all devices that this version knows, or NULL after the last. The struct is static. A
 * build without devices has no options. */
TAPER_API const taper_option_info *taper_device_option(size_t index);

/* ---- text ---- */

/* Reads the text of a device: KIND[:INDEX][!] or KIND:NAME[!], for example "cpu", "vulkan:1" or "nnapi:NAME!". The "!"
 * sets choice->required. Set choice->struct_size first. Text of another form, and a kind that this version does not
 * know, is TAPER_ERROR_ARGUMENT; the message lists the kinds. */
TAPER_API TAPER_MUST_USE taper_status taper_device_parse(const char *text, taper_device_choice *choice,
                                                         taper_error *error);
/* Reads settings: NAME=VALUE with commas between, for example "preference=low_power,level=29". There are *count of
 * them, in settings[0] to settings[room - 1]. More than `room`, a name that is no option and a value that the option
 * does not take are TAPER_ERROR_ARGUMENT; the message lists the options. NULL is no text. */
TAPER_API TAPER_MUST_USE taper_status taper_device_options_parse(const char *text, taper_device_setting *settings,
                                                                 size_t room, size_t *count, taper_error *error);
/* Reads "fp32", "fp16" or "bf16". NULL is "fp32". */
TAPER_API TAPER_MUST_USE taper_status taper_precision_parse(const char *text, taper_precision *precision,
                                                            taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
