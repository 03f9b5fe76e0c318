// SPDX-License-Identifier: BSD-2-Clause
// Tests graphs: uses are counted, blocks nest, and the verifier detects errors.
#include "ir/graph.h"
#include "tests/unit/heap_fixture.h"

typedef struct world {
    heap_fixture f;
    taper_graph *graph;
} world;

static void open_world(world *w, size_t params)
{
    open_heap(&w->f);
    assert_int_equal(taper_graph_create(&w->f.memory.allocator, "test", params, &w->graph, NULL), TAPER_OK);
}

static void close_world(world *w)
{
    taper_graph_destroy(w->graph);
    close_heap(&w->f);
}

static taper_node *add(world *w, taper_block *block, taper_node_kind kind, size_t inputs, size_t outputs)
{
    taper_node *node;
    assert_int_equal(taper_node_create(w->graph, kind, inputs, outputs, &node, NULL), TAPER_OK);
    taper_node_append(block, node);
    return node;
}

static size_t uses(const taper_ir_value *value)
{
    size_t n = 0;
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        n++;
    }
    return n;
}

static void uses_are_kept(void **state)
{
    (void)state;
    world w;
    open_world(&w, 1);
    taper_block *body = w.graph->body;
    taper_ir_value *x = &body->params[0];
    taper_node *pair = add(&w, body, TAPER_NODE_TUPLE, 2, 1), *list = add(&w, body, TAPER_NODE_LIST, 2, 1);
    taper_node_set_input(pair, 0, x);
    taper_node_set_input(pair, 1, x);
    taper_node_set_input(list, 0, &pair->outputs[0]);
    taper_node_set_input(list, 1, x);
    taper_ir_value *result = &list->outputs[0];
    assert_int_equal(taper_block_set_results(body, &result, 1, NULL), TAPER_OK);
    assert_int_equal(uses(x), 3);
    assert_true(taper_value_used_once(&pair->outputs[0]));
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_OK);
    taper_text text = taper_text_make(&taper_allocator_system);
    taper_graph_print(w.graph, &text);
    assert_true(text.length > 10 && !text.failed);
    taper_text_free(&text);
    taper_value_replace_uses(&pair->outputs[0], x);
    assert_int_equal(uses(x), 4);
    assert_null(pair->outputs[0].uses);
    taper_node_remove(pair);
    assert_int_equal(uses(x), 2);
    assert_ptr_equal(body->first, list);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_OK);
    close_world(&w);
}

static void constants_hold_references(void **state)
{
    (void)state;
    world w;
    open_world(&w, 0);
    const taper_val text = TAPER_VAL(taper_string_new(w.f.heap, "constant", 8));
    taper_node *node;
    assert_int_equal(taper_node_constant(w.graph, taper_val_retain(text), &node, NULL), TAPER_OK);
    taper_node_append(w.graph->body, node);
    assert_int_equal(taper_refs_count(&text.as.obj->refs), 2);
    taper_node_remove(node); // the graph still holds the removed node's value
    taper_graph_destroy(w.graph);
    assert_int_equal(taper_refs_count(&text.as.obj->refs), 1);
    taper_val_release(text);
    close_heap(&w.f);
}

static void the_verifier_sees(void **state)
{
    (void)state;
    world w;
    open_world(&w, 1);
    taper_block *body = w.graph->body, *inner[2];
    taper_ir_value *x = &body->params[0];
    taper_node *branch = add(&w, body, TAPER_NODE_IF, 1, 1), *after = add(&w, body, TAPER_NODE_TUPLE, 1, 1);
    taper_node_set_input(branch, 0, x);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(taper_block_create(w.graph, branch, 0, &inner[i], NULL), TAPER_OK);
        branch->blocks[i] = inner[i];
        assert_int_equal(taper_block_set_results(inner[i], &x, 1, NULL), TAPER_OK);
    }
    branch->block_count = 2;
    taper_node_set_input(after, 0, &branch->outputs[0]);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_OK);
    // Uses a value of a block outside of the block.
    taper_node *inside = add(&w, inner[0], TAPER_NODE_TUPLE, 1, 1);
    taper_node_set_input(inside, 0, x);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_OK);
    taper_node_set_input(after, 0, &inside->outputs[0]);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_ERROR_INTERNAL);
    // Uses a value before its definition.
    taper_node_set_input(after, 0, &branch->outputs[0]);
    taper_node_set_input(branch, 0, &after->outputs[0]);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_ERROR_INTERNAL);
    taper_node_set_input(branch, 0, x);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_OK);
    // Makes blocks with different numbers of results, missing inputs, and a call without a function.
    assert_int_equal(taper_block_set_results(inner[1], NULL, 0, NULL), TAPER_OK);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_ERROR_INTERNAL);
    assert_int_equal(taper_block_set_results(inner[1], &x, 1, NULL), TAPER_OK);
    taper_node_set_input(after, 0, NULL);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_ERROR_INTERNAL);
    taper_node_set_input(after, 0, x);
    (void)add(&w, body, TAPER_NODE_OP, 0, 0);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_ERROR_INTERNAL);
    close_world(&w);
}

static void blocks_move(void **state)
{
    (void)state;
    world w;
    open_world(&w, 1);
    taper_block *body = w.graph->body, *other;
    taper_node *first = add(&w, body, TAPER_NODE_TUPLE, 0, 1), *last = add(&w, body, TAPER_NODE_TUPLE, 0, 1);
    assert_int_equal(taper_block_create(w.graph, NULL, 0, &other, NULL), TAPER_OK);
    taper_node *a = add(&w, other, TAPER_NODE_TUPLE, 0, 1), *b = add(&w, other, TAPER_NODE_TUPLE, 0, 1);
    taper_block_inline_before(other, last);
    assert_null(other->first);
    const taper_node *wanted[] = {first, a, b, last};
    size_t n = 0;
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        assert_ptr_equal(node, wanted[n++]);
        assert_ptr_equal(node->block, body);
    }
    assert_int_equal(n, 4);
    taper_node_move(first, body);
    assert_ptr_equal(body->last, first);
    assert_ptr_equal(body->first, a);
    assert_int_equal(taper_graph_verify(w.graph, NULL), TAPER_OK);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(uses_are_kept), cmocka_unit_test(constants_hold_references),
                                       cmocka_unit_test(the_verifier_sees), cmocka_unit_test(blocks_move)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
