// SPDX-License-Identifier: BSD-2-Clause
// Writes pictures and pages for browsers. Each picture or page is one self-contained file.
#ifndef TAPER_TOOLS_MARKUP_H
#define TAPER_TOOLS_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/files.h"

#define MARKUP_SUFFIXES ".svg .html"

// Writes text for use between tags or in quotes. Control characters and bytes that are not UTF-8 become '?'.
void markup_text(FILE *stream, const char *text, size_t length);

// Opens a picture whose file name ends with .svg or .html. Until markup_close_picture, the caller writes SVG elements
// for an area of width x height pixels. An .html file is a page with the title that contains these elements. Failures
// are reported.
bool markup_open_picture(output_file *output, const char *path, const char *title, double width, double height);
bool markup_close_picture(output_file *output, const char *path);

// Opens a page and writes its head. The caller writes the body and calls markup_close_page.
bool markup_open_page(output_file *output, const char *path, const char *title);
bool markup_close_page(output_file *output, const char *path);
// Ends a file that markup_open_picture or markup_open_page opened. Returns false, and removes the file, if some bytes
// could not be written.
bool markup_close_file(output_file *output, const char *path);

#endif
