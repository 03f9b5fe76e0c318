// SPDX-License-Identifier: BSD-2-Clause
#include "common/errors.h"

#include <stdarg.h>
#include <string.h>

#include "common/utf8.h"

#define LOWER_CASE "abcdefghijklmnopqrstuvwxyz_"

static const char *program = "taper";
static bool reported;

void errors_set_program(const char *name)
{
    program = name;
}

void text_put(FILE *stream, const char *text, size_t length, bool lines)
{
    for (size_t i = 0; i < length;) {
        const size_t bytes = utf8_length(text + i, length - i);
        const bool kept = lines && (text[i] == '\n' || text[i] == '\t');
        if (bytes == 0 || (utf8_is_control(text + i, bytes) && !kept)) {
            fputc('?', stream);
        } else {
            fwrite(text + i, 1, bytes, stream);
        }
        i += bytes != 0 ? bytes : 1;
    }
}

bool errors_reported(void)
{
    return reported;
}

static void put_head(const char *subject)
{
    reported = true;
    fflush(stdout); // pending output is printed first, because the error message must come after it
    fprintf(stderr, "%s: error: ", program);
    if (subject != NULL) {
        text_put(stderr, subject, strlen(subject), false);
        fputs(": ", stderr);
    }
}

static void put_formatted(const char *format, va_list arguments)
{
    char text[1024];
    const int length = vsnprintf(text, sizeof text, format, arguments);
    if (length > 0) {
        text_put(stderr, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1, true);
    }
    fputc('\n', stderr);
}

bool error_report(const char *subject, const char *format, ...)
{
    put_head(subject);
    va_list arguments;
    va_start(arguments, format);
    put_formatted(format, arguments);
    va_end(arguments);
    return false;
}

bool error_report_library(const char *subject, const taper_error *error)
{
    const char *message = taper_error_message(error), *detail = taper_error_detail(error);
    put_head(subject);
    if (error == NULL || *message == '\0') {
        fputs("failed, and no memory was left to say why\n", stderr);
        return false;
    }
    text_put(stderr, message, strlen(message), true);
    if (taper_error_offset(error) >= 0) {
        fprintf(stderr, " (at byte %lld)", (long long)taper_error_offset(error));
    }
    fputc('\n', stderr);
    const size_t length = strlen(detail);
    if (length != 0) {
        text_put(stderr, detail, length, true);
        if (detail[length - 1] != '\n') {
            fputc('\n', stderr);
        }
    }
    return false;
}

bool error_report_memory(const char *subject)
{
    return error_report(subject, "out of memory");
}

// Returns the length of the program's name and its subcommand: the words before the first placeholder.
static int command_length(const char *usage)
{
    size_t length = 0;
    for (size_t word = strspn(usage, LOWER_CASE); word != 0; word = strspn(usage + length + 1, LOWER_CASE)) {
        length += word + (length != 0);
        if (usage[length] != ' ') {
            break;
        }
    }
    return (int)length;
}

int error_usage(const char *usage, const char *format, ...)
{
    static const char head[] = "usage: ";
    const char *command = usage + (strncmp(usage, head, sizeof head - 1) == 0 ? sizeof head - 1 : 0);
    put_head(NULL);
    va_list arguments;
    va_start(arguments, format);
    put_formatted(format, arguments);
    va_end(arguments);
    fprintf(stderr, "see \"%.*s --help\"\n", command_length(command), command);
    return EXIT_WRONG_USAGE;
}
