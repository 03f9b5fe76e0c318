// SPDX-License-Identifier: BSD-2-Clause
// Draws a graph. Each line of its text is a node. The lines inside of a segment are the operators that the segment
// replaces; they form the name of its node. The layer of a node (its row in the picture) is one more than the deepest
// layer of the nodes whose results it takes. Nodes of a nested block come after the node that contains the block; nodes
// that take results of the block come after all nodes of the block.
#include "taper/graph_picture.h"

#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/markup.h"

enum {
    WIDTH = 250,
    HEIGHT = 36,
    ACROSS = 290,
    DOWN = 66,
    MARGIN = 24,
    NAME_SIZE = 200,
    NODE_LIMIT = 1 << 14,
    EDGE_LIMIT = 1 << 18
};

typedef struct drawn_node {
    const char *line; // text of the node without indentation
    size_t length, indent;
    char name[NAME_SIZE];
    const char *shape; // text of the shape of the first result; NULL if unknown
    size_t holder;     // index of the node whose block contains this node; the node's own index if no block contains it
    size_t layer, end, column;
    bool segment, used;
} drawn_node;

typedef struct edge {
    size_t from, to;
} edge;

typedef struct drawing {
    const graph_picture *picture;
    drawn_node *nodes;
    edge *edges;
    size_t *makers; // indexed by value number: 1 + index of the node that defines the value; 0 if no node does
    size_t node_count, node_capacity, edge_count, edge_capacity, value_count;
    bool failed, too_large;
} drawing;

// ---- reading the graph

static void *grow(drawing *d, void *items, size_t *capacity, size_t count, size_t limit, size_t item)
{
    if (count < *capacity) {
        return items;
    }
    const size_t more = *capacity != 0 ? 2 * *capacity : 256;
    void *grown = count < limit ? realloc(items, more * item) : NULL;
    d->failed = d->failed || grown == NULL;
    d->too_large = d->too_large || count >= limit;
    *capacity = grown != NULL ? more : *capacity;
    return grown != NULL ? grown : items;
}

static void add_edge(drawing *d, size_t from, size_t to)
{
    for (size_t i = d->edge_count; i > 0 && d->edges[i - 1].to == to; i--) {
        if (d->edges[i - 1].from == from) {
            return;
        }
    }
    d->edges = grow(d, d->edges, &d->edge_capacity, d->edge_count, EDGE_LIMIT, sizeof *d->edges);
    if (!d->failed) {
        d->edges[d->edge_count++] = (edge){from, to};
        d->nodes[from].used = true;
    }
}

static drawn_node *add_node(drawing *d, const char *line, size_t length, size_t indent)
{
    d->nodes = grow(d, d->nodes, &d->node_capacity, d->node_count, NODE_LIMIT, sizeof *d->nodes);
    if (d->failed) {
        return NULL;
    }
    drawn_node *node = &d->nodes[d->node_count];
    *node = (drawn_node){.line = line, .length = length, .indent = indent, .holder = d->node_count};
    d->node_count++;
    return node;
}

// Reads the number after the next '%' before end and moves *at to the end of the number. Returns false if there is no
// such number.
static bool next_value(const char **at, const char *end, size_t *value)
{
    while (*at < end && (**at != '%' || *at + 1 == end || (*at)[1] < '0' || (*at)[1] > '9')) {
        if (**at == '"') { // skips a string in quotes, which may contain '%'
            do {
                *at += **at == '\\' && *at + 1 < end ? 2 : 1;
            } while (*at < end && **at != '"');
        }
        *at += *at < end;
    }
    if (*at >= end) {
        return false;
    }
    char *behind;
    *value = (size_t)strtoul(*at + 1, &behind, 10);
    *at = behind;
    return true;
}

static void make_values(drawing *d, const char *at, const char *end, size_t node)
{
    size_t value;
    bool first = true;
    while (next_value(&at, end, &value)) {
        if (value < d->value_count) {
            d->makers[value] = node + 1;
        }
        if (first && value < d->picture->shape_count) {
            d->nodes[node].shape = d->picture->shapes[value];
        }
        first = false;
    }
}

static void take_values(drawing *d, const char *at, const char *end, size_t node)
{
    size_t value;
    while (next_value(&at, end, &value)) {
        if (value < d->value_count && d->makers[value] != 0 && d->makers[value] - 1 != node) {
            add_edge(d, d->makers[value] - 1, node);
        }
    }
}

// Returns the position of " = " outside of quotes and arguments, or NULL.
static const char *find_equals(const char *line, size_t length)
{
    for (size_t i = 0; i + 3 <= length && line[i] != '(' && line[i] != '"'; i++) {
        if (memcmp(line + i, " = ", 3) == 0) {
            return line + i;
        }
    }
    return NULL;
}

static void add_name(drawn_node *node, const char *operation, const char *end)
{
    size_t length = 0;
    while (operation + length < end && operation[length] != '(') {
        length++;
    }
    // The name of a segment has no checks (taper::…), because the compiler has added them, and they would hide the
    // user's operators.
    if (node->segment && strncmp(operation, "taper::", 7) == 0) {
        return;
    }
    // The name of a segment lists many operators, so their common prefix is omitted.
    if (node->segment && strncmp(operation, "aten::", 6) == 0) {
        operation += 6;
        length -= 6;
    }
    const size_t used = strlen(node->name);
    snprintf(node->name + used, NAME_SIZE - used, "%s%.*s", used != 0 ? " + " : "", (int)length, operation);
}

static void read_line(drawing *d, const char *line, size_t length, size_t indent, size_t holder)
{
    static const char segment[] = "taper::segment[";
    const char *equals = find_equals(line, length), *operation = equals != NULL ? equals + 3 : line;
    drawn_node *node = add_node(d, line, length, indent);
    if (node == NULL) {
        return;
    }
    const size_t index = d->node_count - 1;
    node->holder = holder != (size_t)-1 ? holder : index;
    node->segment = strncmp(operation, segment, sizeof segment - 1) == 0;
    if (!node->segment) {
        add_name(node, operation, line + length);
    }
    take_values(d, operation, line + length, index);
    if (equals != NULL) {
        make_values(d, line, equals, index);
    }
    if (!d->failed && node->holder != index && (d->edge_count == 0 || d->edges[d->edge_count - 1].to != index)) {
        add_edge(d, node->holder, index);
    }
}

// Makes a node for each value of "graph NAME(%0, %1):".
static void read_head(drawing *d, const char *line, size_t length)
{
    const char *at = memchr(line, '(', length);
    size_t value;
    while (at != NULL && next_value(&at, line + length, &value)) {
        drawn_node *node = add_node(d, line, length, 0);
        if (node != NULL) {
            snprintf(node->name, NAME_SIZE, "input %zu", value);
            d->makers[value] = value < d->value_count ? d->node_count : 0;
        }
    }
}

// Returns the index of the node whose block contains a line indented by `indent`, or (size_t)-1 if no block does.
static size_t find_holder(const drawing *d, size_t indent)
{
    size_t i = indent > 2 ? d->node_count : 0; // a line with an indentation of two is in no block
    while (i > 0 && d->nodes[i - 1].indent >= indent) {
        i--;
    }
    return i > 0 && d->nodes[i - 1].indent != 0 ? i - 1 : (size_t)-1;
}

static void read_graph(drawing *d)
{
    for (const char *line = d->picture->text; *line != '\0' && !d->failed;) {
        const size_t whole = strcspn(line, "\n"), indent = strspn(line, " ");
        const char *at = line + indent;
        const size_t length = whole - indent, holder = find_holder(d, indent);
        drawn_node *within = holder != (size_t)-1 ? &d->nodes[holder] : NULL;
        if (indent == 0 && length != 0) {
            read_head(d, at, length);
        } else if (strncmp(at, "-> ", 3) == 0 || length == 0) {
            // The line lists the results of a block. No edges are drawn for the results of a block.
        } else if (strncmp(at, "block", 5) == 0 && at[5] >= '0' && at[5] <= '9') {
            if (within != NULL && !within->segment) {
                make_values(d, at + 5, at + length, holder);
            }
        } else if (within != NULL && within->segment) {
            const char *equals = find_equals(at, length);
            add_name(within, equals != NULL ? equals + 3 : at, at + length);
        } else {
            read_line(d, at, length, indent, holder);
        }
        line += whole + (line[whole] == '\n');
    }
}

// ---- placing nodes on the picture

// Returns false for inputs that no node uses.
static bool is_drawn(const drawn_node *node)
{
    return node->indent != 0 || node->used;
}

static void place_layers(drawing *d)
{
    size_t e = 0;
    for (size_t i = 0; i < d->node_count; i++) {
        drawn_node *node = &d->nodes[i];
        for (; e < d->edge_count && d->edges[e].to == i; e++) {
            const size_t above =
                d->edges[e].from == node->holder ? d->nodes[node->holder].layer : d->nodes[d->edges[e].from].end;
            node->layer = above + 1 > node->layer ? above + 1 : node->layer;
        }
        node->end = node->layer;
        for (size_t holder = node->holder, inner = i; holder != inner;
             inner = holder, holder = d->nodes[holder].holder) {
            d->nodes[holder].end = node->layer > d->nodes[holder].end ? node->layer : d->nodes[holder].end;
        }
    }
}

// Puts each node below the first node whose result it takes, if that position is free. If the position is taken, puts
// the node at the right end of its layer.
static bool place_columns(drawing *d, size_t *layers, size_t *columns)
{
    *layers = *columns = 0;
    for (size_t i = 0; i < d->node_count; i++) {
        *layers = d->nodes[i].layer + 1 > *layers ? d->nodes[i].layer + 1 : *layers;
    }
    // last, wide: for each layer, 1 + the index of the node that was placed last, and the number of columns. before:
    // for each node, the previous node in its layer.
    size_t *last = calloc(*layers + 1, sizeof *last), *wide = calloc(*layers + 1, sizeof *wide);
    size_t *before = calloc(d->node_count + 1, sizeof *before), e = 0;
    const bool done = last != NULL && wide != NULL && before != NULL;
    for (size_t i = 0; done && i < d->node_count; i++) {
        drawn_node *node = &d->nodes[i];
        if (!is_drawn(node)) {
            continue;
        }
        while (e < d->edge_count && d->edges[e].to < i) {
            e++;
        }
        node->column = e < d->edge_count && d->edges[e].to == i ? d->nodes[d->edges[e].from].column : 0;
        for (size_t k = last[node->layer]; k != 0; k = before[k - 1]) {
            if (d->nodes[k - 1].column == node->column) {
                node->column = wide[node->layer];
                break;
            }
        }
        before[i] = last[node->layer];
        last[node->layer] = i + 1;
        wide[node->layer] = node->column + 1 > wide[node->layer] ? node->column + 1 : wide[node->layer];
        *columns = wide[node->layer] > *columns ? wide[node->layer] : *columns;
    }
    free(last);
    free(wide);
    free(before);
    return done;
}

// ---- drawing the picture

static const char *color_of(const char *name)
{
    static const struct {
        const char *part, *color;
    } kinds[] = {
        {"input", "#ddf4ff"},   {"conv", "#b6e3ff"},     {"linear", "#aceebb"},     {"matmul", "#aceebb"},
        {"mm", "#aceebb"},      {"lstm", "#aceebb"},     {"gru", "#aceebb"},        {"pool", "#ffd8b5"},
        {"norm", "#eac54f"},    {"relu", "#ffc1bc"},     {"tanh", "#ffc1bc"},       {"sigmoid", "#ffc1bc"},
        {"softmax", "#ffc1bc"}, {"prim::If", "#d8b9ff"}, {"prim::Loop", "#d8b9ff"}, {"quant", "#c297ff"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strstr(name, kinds[i].part) != NULL) {
            return kinds[i].color;
        }
    }
    return "#eaeef2";
}

static double x_of(const drawn_node *node)
{
    return MARGIN + (double)node->column * ACROSS;
}

static double y_of(const drawn_node *node)
{
    return MARGIN + (double)node->layer * DOWN;
}

static void put_edge(FILE *stream, const drawn_node *from, const drawn_node *to)
{
    const double x1 = x_of(from) + WIDTH / 2.0, y1 = y_of(from) + HEIGHT, x2 = x_of(to) + WIDTH / 2.0, y2 = y_of(to);
    // An edge between two nodes of the same column bends around the nodes between them.
    const double aside = from->column == to->column && to->layer > from->layer + 1 ? WIDTH * 2 / 3.0 + 40 : 0;
    fprintf(stream, "<path d=\"M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f\"/>\n", x1, y1, x1 + aside, y1 + 30, x2 + aside,
            y2 - 30, x2, y2);
}

static void put_node(FILE *stream, const drawn_node *node)
{
    enum { SHOWN = 34 };
    const double x = x_of(node), y = y_of(node);
    const size_t length = strlen(node->name);
    fprintf(stream, "<g><title>");
    markup_text(stream, node->name, length);
    fputc('\n', stream);
    markup_text(stream, node->line, node->length < 2000 ? node->length : 2000);
    fprintf(stream,
            "</title><rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"%s\" stroke=\"#8c959f\"/>"
            "<text x=\"%.0f\" y=\"%.0f\" fill=\"#1b1f24\">",
            x, y, WIDTH, HEIGHT, color_of(node->name), x + 8, y + (node->shape != NULL ? 15 : 22));
    markup_text(stream, node->name, length < SHOWN ? length : SHOWN);
    fprintf(stream, "%s</text>", length > SHOWN ? "…" : "");
    if (node->shape != NULL) {
        fprintf(stream, "<text x=\"%.0f\" y=\"%.0f\" fill=\"#57606a\" font-size=\"10\">", x + 8, y + 29);
        markup_text(stream, node->shape, strlen(node->shape));
        fputs("</text>", stream);
    }
    fputs("</g>\n", stream);
}

static bool draw(const drawing *d, const char *path, size_t layers, size_t columns)
{
    output_file output;
    if (!markup_open_picture(&output, path, d->picture->title, 2.0 * MARGIN + (double)columns * ACROSS,
                             2.0 * MARGIN + (double)layers * DOWN)) {
        return false;
    }
    fputs("<g fill=\"none\" stroke=\"#8c959f\">\n", output.stream);
    for (size_t i = 0; i < d->edge_count; i++) {
        put_edge(output.stream, &d->nodes[d->edges[i].from], &d->nodes[d->edges[i].to]);
    }
    fputs("</g>\n", output.stream);
    for (size_t i = 0; i < d->node_count; i++) {
        if (is_drawn(&d->nodes[i])) {
            put_node(output.stream, &d->nodes[i]);
        }
    }
    return markup_close_picture(&output, path);
}

static size_t count_values(const char *text)
{
    size_t most = 0, value;
    const char *end = text + strlen(text);
    while (next_value(&text, end, &value)) {
        most = value >= most && value < (size_t)1 << 24 ? value + 1 : most;
    }
    return most;
}

bool graph_picture_write(const graph_picture *picture, const char *path)
{
    drawing d = {.picture = picture, .value_count = count_values(picture->text)};
    size_t layers = 0, columns = 0;
    d.makers = calloc(d.value_count + 1, sizeof *d.makers);
    d.failed = d.makers == NULL;
    if (!d.failed) {
        read_graph(&d);
    }
    bool done = !d.failed;
    if (done) {
        place_layers(&d);
        done = place_columns(&d, &layers, &columns);
    }
    done = done          ? draw(&d, path, layers, columns)
           : d.too_large ? error_report(path, "the graph has more than %d nodes, too many for a picture", NODE_LIMIT)
                         : error_report_memory(path);
    free(d.nodes);
    free(d.edges);
    free(d.makers);
    return done;
}
