/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Lists the devices of a machine and their options. Parses the names of devices, options and precisions as they stand
 * in command lines and environment variables. A program that runs models on the CPU, or on one known device, needs
 * taper.h only. The conventions of taper.h hold here.
 */
#ifndef TAPER_TAPER_DEVICE_H
#define TAPER_TAPER_DEVICE_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the devices of this machine ---- */

/* Describes a device that models can run on. taper_context_devices passes the struct to its callback; the struct and
 * its texts are valid only during that callback. */
typedef struct taper_device_info {
    size_t struct_size;      /* size of this struct, which the library sets */
    taper_device_kind kind;  /* kind of the device */
    const char *name;        /* text that chooses the device, for taper_device_parse: "cpu", "vulkan:1" */
    const char *title;       /* name that the device or its driver reports; "": no name is reported */
    const char *description; /* words about what the device can do and how Taper uses it; "": nothing is known */
    const char *problem;     /* reason why no model can run on the device; NULL: models can run on it */
} taper_device_info;

/* Calls the callback each(user, info) once for every device of this build's backends: first the CPU, then backend by
 * backend. If the callback returns another number than 0, the function stops and returns TAPER_OK. A backend without a
 * device is reported once, with its problem. A Vulkan driver that computes on the CPU has a name with the driver's name
 * instead of a number, such as "vulkan:llvmpipe".
 * The function opens the devices, which takes as long as their drivers need. A thread that loads a model for a device
 * waits while the function opens a device. The callback must not use the context, for example to load a model. */
TAPER_API TAPER_MUST_USE taper_status taper_context_devices(taper_context *context,
                                                            int (*each)(void *user, const taper_device_info *info),
                                                            void *user, taper_error *error);

/* Returns the name of a kind, such as "vulkan", or NULL if this version does not know the kind. The text is static. */
TAPER_API const char *taper_device_kind_name(taper_device_kind kind);

/* ---- options of devices ---- */

typedef enum taper_option_kind {
    TAPER_OPTION_FLAG = 0,   /* a flag: 0 or 1 */
    TAPER_OPTION_NUMBER = 1, /* an integer from `least` to `most` */
    TAPER_OPTION_CHOICE = 2  /* an index of `values` */
} taper_option_kind;

/* Describes an option of devices. The struct and its texts are static. */
typedef struct taper_option_info {
    size_t struct_size;        /* size of this struct, which the library sets */
    taper_option option;       /* the option, for taper_device_setting.option */
    uint32_t devices;          /* kinds of devices that have the option, TAPER_DEVICE_BIT()s joined by | */
    const char *name;          /* name of the option in text: "preference" */
    taper_option_kind kind;    /* kind of the option's value */
    const char *const *values; /* value_count names, one for each value of a choice; NULL for other kinds */
    size_t value_count;        /* number of names; 0 for other kinds */
    int64_t least, most;       /* smallest and largest value */
    int64_t initial;           /* default value; -1: Taper chooses a value for the device */
    const char *help;          /* sentence that says what the option does */
} taper_option_info;

/* Lists the options of all devices: returns the description of option `index` of the list, or NULL if index is past its
 * end. index counts from 0; it is not a taper_option. A build without devices has no options. */
TAPER_API const taper_option_info *taper_device_option(size_t index);

/* ---- text ---- */

/* Fills *choice from the text of a device: KIND[:INDEX][!] or KIND:NAME[!], for example "cpu", "vulkan:1" or
 * "nnapi:NAME!". The "!" sets choice->required. Set choice->struct_size first. The function fails with
 * TAPER_ERROR_ARGUMENT if the text has another form, or if this version does not know the kind. The message says what
 * is valid. */
TAPER_API TAPER_MUST_USE taper_status taper_device_parse(const char *text, taper_device_choice *choice,
                                                         taper_error *error);
/* Reads settings of options from text of the form NAME=VALUE,NAME=VALUE, for example "preference=low_power,level=29".
 * Writes them to settings[0] to settings[*count - 1]; room is the number of elements of settings. NULL and "" give
 * *count 0. The function fails with TAPER_ERROR_ARGUMENT if there are more than `room` settings, or if a name or a
 * value is wrong; *count is then 0. For a wrong name or value the message lists the options and their values. */
TAPER_API TAPER_MUST_USE taper_status taper_device_options_parse(const char *text, taper_device_setting *settings,
                                                                 size_t room, size_t *count, taper_error *error);
/* Sets *precision from the text "fp32", "fp16" or "bf16"; NULL means "fp32". The function fails with
 * TAPER_ERROR_ARGUMENT for any other text. */
TAPER_API TAPER_MUST_USE taper_status taper_precision_parse(const char *text, taper_precision *precision,
                                                            taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
