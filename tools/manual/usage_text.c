// SPDX-License-Identifier: BSD-2-Clause
// Parses usage texts, which are written for people: a synopsis, a description, and one or more lines for each option.
#include <ctype.h>
#include <string.h>

#include "manual/manual.h"

long usage_line(const char **text, const char *end, const char **line)
{
    if (*text >= end || **text == '\0') {
        return -1;
    }
    *line = *text;
    const char *stop = memchr(*text, '\n', (size_t)(end - *text));
    *text = stop != NULL ? stop + 1 : end;
    return (stop != NULL ? stop : end) - *line;
}

static size_t indentation(const char *line, size_t length)
{
    size_t count = 0;
    while (count < length && line[count] == ' ') {
        count++;
    }
    return count;
}

// Returns the start of the long name in "  -i, --input INPUT   …" or "  --json  …". Returns NULL for other lines.
static const char *option_name(const char *line, size_t length)
{
    if (length > 6 && memcmp(line, "  -", 3) == 0 && line[4] == ',' && memcmp(line + 5, " --", 3) == 0) {
        return line + 6;
    }
    return length > 4 && memcmp(line, "  --", 4) == 0 ? line + 2 : NULL;
}

bool usage_find(const char *usage, const char *name, usage_entry *entry)
{
    const char *text = usage, *end = usage + strlen(usage), *line;
    long length;
    while ((length = usage_line(&text, end, &line)) >= 0) {
        const char *found = option_name(line, (size_t)length), *stop = line + length;
        const size_t size = strlen(name);
        if (found == NULL || strncmp(found, name, size) != 0 ||
            (found[size] != ' ' && found[size] != '[' && found + size != stop)) {
            continue;
        }
        const char *name_end = found + size;
        while (name_end < stop && *name_end != ' ') { // skips a choice such as "[=strict]"
            name_end++;
        }
        const char *value = name_end + (name_end < stop && name_end[1] != ' ');
        const char *behind = value;
        while (behind < stop && *behind != ' ') {
            behind++;
        }
        *entry = (usage_entry){.value = value,
                               .value_length = (size_t)(behind - value),
                               .choice = found + size,
                               .choice_length = (size_t)(name_end - found) - size,
                               .help = behind};
        // Lines that are indented more than the option's first line belong to the option too. If the option's value
        // fills the first line, the help begins on the next line.
        entry->end = stop;
        while ((length = usage_line(&text, end, &line)) > 0 && indentation(line, (size_t)length) > 6) {
            entry->end = line + length;
        }
        while (entry->help < entry->end && (*entry->help == ' ' || *entry->help == '\n')) {
            entry->help++;
        }
        return true;
    }
    return false;
}

size_t usage_count(const char *usage)
{
    const char *text = usage, *end = usage + strlen(usage), *line;
    size_t count = 0;
    for (long length; (length = usage_line(&text, end, &line)) >= 0;) {
        count += option_name(line, (size_t)length) != NULL;
    }
    return count;
}

void usage_parts(const char *usage, const char **synopsis, const char **description, const char **options)
{
    const char *end = usage + strlen(usage), *blank = strstr(usage, "\n\n"), *line;
    *synopsis = usage;
    *description = blank != NULL ? blank + 2 : end;
    const char *text = *description;
    *options = end;
    for (long length; (length = usage_line(&text, end, &line)) >= 0;) {
        if (option_name(line, (size_t)length) != NULL) {
            *options = line;
            return;
        }
    }
}

void usage_summary(const usage_entry *entry, char *summary, size_t capacity)
{
    size_t count = 0;
    for (const char *c = entry->help; c < entry->end && *c != ';' && *c != '(' && *c != '\n'; c++) {
        if (count + 1 < capacity) {
            summary[count++] = *c;
        }
    }
    while (count > 0 && (summary[count - 1] == ' ' || summary[count - 1] == ',' || summary[count - 1] == ':')) {
        count--;
    }
    summary[count] = '\0';
}

static bool is_among(const char *word, size_t length, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == length && memcmp(word, *words, length) == 0) {
            return true;
        }
    }
    return false;
}

bool takes_value(const arg_option *option)
{
    switch (option->kind) {
    case ARG_TEXT:
    case ARG_TEXTS:
    case ARG_COUNT:
    case ARG_SIZE:
    case ARG_TRIPLE:
        return true;
    default:
        return false; // flags have no value, not even flags with a choice
    }
}

value_kind value_kind_of(const manual_verb *verb, const arg_option *option, char *words, size_t capacity)
{
    static const char *const files[] = {"FILE", "FILE.json", "OUT", "OUT.npz", "INPUT", "PATH", "MODEL2", NULL};
    static const char *const folders[] = {"DIR", NULL};
    usage_entry entry;
    words[0] = '\0';
    if (!takes_value(option) || !usage_find(verb->usage, option->name, &entry)) {
        return VALUE_NONE;
    }
    if (is_among(entry.value, entry.value_length, files)) {
        return VALUE_FILE;
    }
    if (is_among(entry.value, entry.value_length, folders)) {
        return VALUE_FOLDER;
    }
    // In "low|fast" the words are literal; placeholders are in capitals.
    for (size_t i = 0; i < entry.value_length; i++) {
        const char c = entry.value[i];
        if ((!islower((unsigned char)c) && !isdigit((unsigned char)c) && c != '|') || i + 1 >= capacity) {
            words[0] = '\0';
            return VALUE_OTHER;
        }
        words[i] = c == '|' ? ' ' : c;
        words[i + 1] = '\0';
    }
    return VALUE_WORDS;
}
