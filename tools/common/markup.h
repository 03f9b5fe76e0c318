// SPDX-License-Identifier: BSD-2-Clause
// Pictures and pages for browsers: one file each, which asks for nothing else.
#ifndef TAPER_TOOLS_MARKUP_H
#define TAPER_TOOLS_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/files.h"

#define MARKUP_SUFFIXES ".svg .html"

// Text between tags or in quotes; what is no UTF-8 and control characters become '?'.
void markup_text(FILE *stream, const char *text, size_t length);

// A file that ends in .svg or .html. Failures are reported. What is written between is SVG's content, of so many
// pixels; as .html it stands in a page with the title.
bool markup_open_picture(output_file *output, const char *path, const char *title, double width, double height);
bool markup_close_picture(output_file *output, const char *path);

// The head of a page; the caller writes its body and markup_close_page.
bool markup_open_page(output_file *output, const char *path, const char *title);
bool markup_close_page(output_file *output, const char *path);
// What all that write to the stream end with: false, and nothing is left, where not all could be written.
bool markup_close_file(output_file *output, const char *path);

#endif
