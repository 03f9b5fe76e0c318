// SPDX-License-Identifier: BSD-2-Clause
// Tests the parser of graphs: it must restore everything in a graph, and report errors with their line.
#include "tests/passes/graph_parse.h"
#include "tests/unit/heap_fixture.h"

typedef struct world {
    heap_fixture f;
    taper_registry *registry;
    taper_error *error;
} world;

static void open_world(world *w)
{
    open_heap(&w->f);
    assert_int_equal(taper_registry_create(&w->f.memory.allocator, w->f.types, &w->registry, NULL), TAPER_OK);
    w->error = taper_error_create();
}

static void close_world(world *w)
{
    taper_error_destroy(w->error);
    taper_registry_destroy(w->registry);
    close_heap(&w->f);
}

static taper_status read(world *w, const char *text, taper_graph **graph)
{
    graph_reader r = {.allocator = &w->f.memory.allocator,
                      .types = w->f.types,
                      .heap = w->f.heap,
                      .registry = w->registry,
                      .text = text,
                      .line = 1,
                      .error = w->error};
    return read_graph(&r, graph);
}

static void comes_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "graph __torch__.M.forward(%0 : __torch__.M, %1):\n"
        "  %2 : Tensor = prim::GetAttr[3](%0)\n"
        "  prim::SetAttr[4](%0, %2)\n"
        "  %3 : Tensor = aten::conv2d(%1, %2, None, <frozen List[int]: 1, 1>, <List: 0, 0>, <frozen List: 1, 1>, 1)\n"
        "  return (%3)\n",
        "graph f(%0, %1):\n"
        "  %2 = prim::Constant(<Tensor float32 [2, 2] = 1.0, -2.5, inf, nan>)\n"
        "  %3 = prim::ListConstruct[List[Tensor]](%2, %2, <Tensor int64 [] = 7>, <Tensor bool [0, 3]>)\n"
        "  %4 = prim::TupleConstruct[__torch__.Q[NamedTuple, [[a, int],[b, List[Tensor]]]]](1, %3)\n"
        "  %5, %6 = prim::TupleUnpack(%4)\n"
        "  %7 = prim::TupleSlice[0:1](%4)\n"
        "  %8 = prim::isinstance[int, List[int]](%5)\n"
        "  %9 = prim::DictConstruct[Dict[str, int]](\"a \\\"quoted\\\" \\x01\", 1)\n"
        "  %10 = prim::CallMethod[run](%0, (1, 2.5, \"x\", None, <Device 0>), <Dict: \"k\": True>, <Object "
        "__torch__.N: 1, ()>)\n"
        "  return (%10)\n",
        "graph f(%0, %1):\n"
        "  %2, %3 = prim::Loop(10, True, %0, 1)\n"
        "    block0(%4 : int, %5, %6):\n"
        "      %7 = prim::If(%1)\n"
        "        block0():\n"
        "          %8 = aten::add.int(%4, %6)\n"
        "          -> (%8)\n"
        "        block1():\n"
        "          -> (-1e-05)\n"
        "      -> (True, %5, %7)\n"
        "  return (%2)\n"};
    world w;
    open_world(&w);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        taper_graph *graph;
        taper_text text = taper_text_make(&taper_allocator_system);
        if (read(&w, texts[i], &graph) != TAPER_OK) {
            fail_msg("%s", taper_error_message(w.error));
        }
        taper_graph_print_exact(graph, &text);
        assert_string_equal(taper_text_get(&text), texts[i]);
        taper_graph_print(graph, &text); // only checks that printing the short form does not crash
        taper_text_free(&text);
        taper_graph_destroy(graph);
    }
    close_world(&w);
}

static void defaults_are_filled(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_graph *graph;
    assert_int_equal(read(&w, "graph f(%x): %y = aten::add.Tensor(%x, %x) return (%y)", &graph), TAPER_OK);
    assert_int_equal(graph->body->last->input_count, 3);
    assert_int_equal(taper_value_constant(taper_node_in(graph->body->last, 2))->constant.as.i, 1);
    taper_graph_destroy(graph);
    close_world(&w);
}

static void errors_have_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1: expected \"graph\""},
        {"graph f(%x)\n return (%x)", "line 2: expected \":\""},
        {"graph f(%x):\n\n  %y = aten::nothing(%x)\n  return (%y)", "line 3: no operator aten::nothing"},
        {"graph f(%x):\n  %y = aten::relu(%z)\n  return (%y)", "line 2: expected the name of a value"},
        {"graph f(%x):\n  %y = aten::relu()\n  return (%y)", "line 2: aten::relu takes 1 inputs, not 0"},
        {"graph f(%x):\n  aten::relu(%x)\n  return (%x)", "line 2: expected as many outputs"},
        {"graph f(%x):\n  %y = aten::relu(%x", "line 2: expected \",\""},
        {"graph f(%x):\n  %y = prim::If(%x)\n  return (%y)", "line 3: expected block0("},
        {"graph f(%x):\n  %y : List[int = prim::ListConstruct()\n  return (%y)", "line 2"},
        {"graph f(%x):\n  %y = prim::ListConstruct(<Tensor float32 [2] = 1>)\n  return (%y)", "line 2: expected \",\""},
        {"graph f(%x):\n  %y = prim::ListConstruct(\"ab)\n  return (%y)", "line 2: expected the end of a string"},
        {"graph f(%x):\n  %y = prim::ListConstruct(<Dict: 1>)\n  return (%y)", "line 2: expected \":\""},
        {"graph f(%x):\n  %y = prim::If(%x)\n    block0():\n -> ()\n    block1():\n -> ()\n return (%y)",
         "its counts do not fit"}};
    world w;
    open_world(&w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        taper_graph *graph;
        assert_int_not_equal(read(&w, cases[i].text, &graph), TAPER_OK);
        assert_null(graph);
        if (strstr(taper_error_message(w.error), cases[i].message) == NULL) {
            fail_msg("case %zu: %s", i, taper_error_message(w.error));
        }
    }
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back), cmocka_unit_test(defaults_are_filled),
                                       cmocka_unit_test(errors_have_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
