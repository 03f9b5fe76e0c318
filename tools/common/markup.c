// SPDX-License-Identifier: BSD-2-Clause
#include "common/markup.h"

#include <errno.h>
#include <string.h>

#include "common/errors.h"
#include "common/suffix.h"
#include "common/utf8.h"

static const char style[] =
    "body{font:14px system-ui,sans-serif;margin:1.5em;color:#1b1f24;background:#fff}"
    "h1{font-size:1.2em}h2{font-size:1em;margin-top:2em}"
    "table{border-collapse:collapse}th{text-align:left;color:#57606a;font-weight:normal}"
    "td,th{padding:.15em .8em .15em 0;white-space:nowrap}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".bar{background:#58a6ff;height:.8em;border-radius:2px;min-width:1px}"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th{color:#8d96a0}}";

void markup_text(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        const size_t bytes = utf8_length(text + i, length - i);
        if (bytes == 0 || utf8_is_control(text + i, bytes)) {
            fputs(text[i] == '\n' ? "\n" : "?", stream);
        } else if (bytes == 1 && strchr("&<>\"'", text[i]) != NULL) {
            fprintf(stream, "&#%d;", text[i]);
        } else {
            fwrite(text + i, 1, bytes, stream);
        }
        i += bytes != 0 ? bytes : 1;
    }
}

bool markup_open_page(output_file *output, const char *path, const char *title)
{
    if (!output_open(output, path)) {
        return false;
    }
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><title>",
          output->stream);
    markup_text(output->stream, title, strlen(title));
    fprintf(output->stream, "</title><style>%s</style></head><body>\n<h1>", style);
    markup_text(output->stream, title, strlen(title));
    fputs("</h1>\n", output->stream);
    return true;
}

bool markup_close_file(output_file *output, const char *path)
{
    if (ferror(output->stream) != 0 || fflush(output->stream) != 0) {
        output_discard(output);
        return error_report(path, "cannot write: %s", strerror(errno));
    }
    return output_commit(output);
}

bool markup_close_page(output_file *output, const char *path)
{
    fputs("</body></html>\n", output->stream);
    return markup_close_file(output, path);
}

static bool is_page(const char *path)
{
    return suffix_among(path, ".html");
}

bool markup_open_picture(output_file *output, const char *path, const char *title, double width, double height)
{
    if (!(is_page(path) ? markup_open_page(output, path, title) : output_open(output, path))) {
        return false;
    }
    fprintf(output->stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"system-ui,sans-serif\" font-size=\"12\">\n<title>",
            width, height, width, height);
    markup_text(output->stream, title, strlen(title));
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", output->stream);
    return true;
}

bool markup_close_picture(output_file *output, const char *path)
{
    fputs("</svg>\n", output->stream);
    return is_page(path) ? markup_close_page(output, path) : markup_close_file(output, path);
}
