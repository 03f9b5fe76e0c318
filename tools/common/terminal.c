// SPDX-License-Identifier: BSD-2-Clause
#define _DARWIN_C_SOURCE 1 // needed for the size of terminals
#include "common/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

bool terminal_has_colors(FILE *stream)
{
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    return isatty(fileno(stream)) && (no == NULL || *no == '\0') && kind != NULL && strcmp(kind, "dumb") != 0;
}

bool terminal_has_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale != NULL && *locale != '\0') { // the first of these variables that is set decides
            return strstr(locale, "UTF-8") != NULL || strstr(locale, "utf8") != NULL ||
                   strstr(locale, "UTF8") != NULL || strstr(locale, "utf-8") != NULL;
        }
    }
    return false;
}

int terminal_columns(FILE *stream)
{
    struct winsize size;
    return isatty(fileno(stream)) != 0 && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void terminal_bar(FILE *stream, double part, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const bool unicode = terminal_has_unicode();
    const double clamped = part > 0 ? (part < 1 ? part : 1) : 0;
    const int steps = (int)(clamped * width * 8 + 0.5);
    for (int i = 0; i < (unicode ? steps / 8 : (steps + 4) / 8); i++) {
        fputs(unicode ? "█" : "#", stream);
    }
    fputs(unicode ? eighths[steps % 8] : "", stream);
}

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_begin(progress *p, const char *what)
{
    *p = (progress){.what = what, .active = isatty(STDERR_FILENO) != 0};
}

void progress_step(progress *p, size_t done, size_t total)
{
    if (!p->active) {
        return;
    }
    const double now = clock_seconds();
    if (now - p->shown_at >= 0.1) {
        p->shown_at = now;
        fprintf(stderr, "\r\033[K%s %zu/%zu ", p->what, done, total);
        fflush(stderr);
    }
}

void progress_end(progress *p)
{
    if (p->active && p->shown_at > 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    p->active = false;
}
