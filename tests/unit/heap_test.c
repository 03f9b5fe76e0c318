// SPDX-License-Identifier: BSD-2-Clause
// Tests the heap: blocks are freed, cycles are freed when the heap is closed, values may outlive the heap, and its
// memory limit is enforced.
#include "ir/storage.h"
#include "ir/tensor.h"
#include "tests/unit/heap_fixture.h"

static void blocks_are_reused(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    static const size_t sizes[] = {0, 1, 15, 16, 17, 1023, 1024, 1025, 4096, 5000, 100000, 1 << 20};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    void *blocks[COUNT];
    for (int round = 0; round < 3; round++) {
        const uint64_t calls = taper_heap_calls(f.heap);
        for (size_t i = 0; i < COUNT; i++) {
            blocks[i] = taper_heap_alloc(f.heap, sizes[i]);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % (sizes[i] >= 1024 ? TAPER_ALIGNMENT : _Alignof(max_align_t)), 0);
            memset(blocks[i], 1, sizes[i]);
            if (sizes[i] >= 1024) {
                volatile char behind = ((char *)blocks[i])[sizes[i] + TAPER_OVERREAD - 1];
                (void)behind;
            }
        }
        for (size_t i = 0; i < COUNT; i++) {
            taper_heap_free(f.heap, blocks[i], sizes[i]);
        }
        assert_true(round == 0 || taper_heap_calls(f.heap) == calls);
    }
    assert_true(taper_heap_bytes(f.heap) > 1 << 20);
    taper_heap_trim(f.heap);
    assert_int_equal(taper_heap_bytes(f.heap), 0);
    assert_null(taper_heap_alloc(f.heap, SIZE_MAX));
    assert_null(taper_heap_alloc(f.heap, SIZE_MAX / 2));
    close_heap(&f);
}

// If its own class has no free block, a storage takes a larger block, up to four times its size. The block is later
// returned to its own class. Scratch memory does not take larger blocks, because a trim counts it by class.
static void larger_blocks_do(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    const size_t large = 1 << 20, small = 300000, tiny = 200000;
    void *block = taper_heap_alloc_storage(f.heap, large);
    taper_heap_free_storage(f.heap, block, large);
    const uint64_t calls = taper_heap_calls(f.heap);
    const size_t bytes = taper_heap_bytes(f.heap);
    assert_ptr_equal(taper_heap_alloc_storage(f.heap, small), block);
    memset(block, 1, small);
    taper_heap_free_storage(f.heap, block, small);
    assert_ptr_equal(taper_heap_alloc_storage(f.heap, large), block);
    memset(block, 1, large);
    taper_heap_free_storage(f.heap, block, large);
    assert_int_equal(taper_heap_calls(f.heap), calls);
    assert_int_equal(taper_heap_bytes(f.heap), bytes);

    void *other = taper_heap_alloc_storage(f.heap, tiny), *scratch = taper_heap_alloc(f.heap, small);
    assert_ptr_not_equal(other, block);
    assert_ptr_not_equal(scratch, block);
    taper_heap_free_storage(f.heap, other, tiny);
    taper_heap_free(f.heap, scratch, small);
    taper_heap_trim_storages(f.heap); // frees all free blocks, except the blocks that scratch memory needs
    assert_in_range(taper_heap_bytes(f.heap), small, 2 * small);
    assert_ptr_equal(taper_heap_alloc(f.heap, small), scratch);
    taper_heap_free(f.heap, scratch, small);
    taper_heap_trim(f.heap);
    assert_int_equal(taper_heap_bytes(f.heap), 0);

    taper_heap_set_limit(f.heap, large + small); // the limit counts requested bytes, not the sizes of blocks
    block = taper_heap_alloc_storage(f.heap, large);
    taper_heap_free_storage(f.heap, block, large);
    void *first = taper_heap_alloc_storage(f.heap, small), *second = taper_heap_alloc_storage(f.heap, small);
    assert_non_null(first);
    assert_non_null(second);
    taper_heap_free_storage(f.heap, first, small);
    taper_heap_free_storage(f.heap, second, small);
    close_heap(&f);
}

static void cycles_go_when_it_closes(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    // Makes cycles: l = [l, d]; d = {1: l, 2: t}; t = (d, "text").
    taper_list *l = taper_list_new(f.heap, NULL, 0);
    taper_dict *d = taper_dict_new(f.heap, NULL, NULL);
    taper_tuple *t = taper_tuple_new(f.heap, NULL, 2);
    assert_int_equal(taper_list_append(l, taper_val_retain(TAPER_VAL(l)), NULL), TAPER_OK);
    assert_int_equal(taper_list_append(l, taper_val_retain(TAPER_VAL(d)), NULL), TAPER_OK);
    assert_int_equal(taper_dict_set(d, taper_val_int(1), taper_val_retain(TAPER_VAL(l)), NULL), TAPER_OK);
    assert_int_equal(taper_dict_set(d, taper_val_int(2), taper_val_retain(TAPER_VAL(t)), NULL), TAPER_OK);
    t->items[0] = taper_val_retain(TAPER_VAL(d));
    t->items[1] = TAPER_VAL(taper_string_new(f.heap, "text", 4));
    taper_val_release(TAPER_VAL(l));
    taper_val_release(TAPER_VAL(d));
    taper_val_release(TAPER_VAL(t));
    assert_true(atomic_load(&f.memory.blocks) > 5);
    close_heap(&f); // checks that everything is freed
}

static void what_is_held_outlives_it(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    // The list `inner`, to which other code has a reference, is in a cycle with `outer`. `garbage` is a separate cycle.
    taper_list *inner = taper_list_new(f.heap, NULL, 0), *outer = taper_list_new(f.heap, NULL, 0);
    taper_list *garbage = taper_list_new(f.heap, NULL, 0);
    assert_int_equal(taper_list_append(inner, TAPER_VAL(outer), NULL), TAPER_OK);
    assert_int_equal(taper_list_append(outer, taper_val_retain(TAPER_VAL(inner)), NULL), TAPER_OK);
    assert_int_equal(taper_list_append(inner, TAPER_VAL(taper_string_new(f.heap, "still here", 10)), NULL), TAPER_OK);
    assert_int_equal(taper_list_append(garbage, TAPER_VAL(garbage), NULL), TAPER_OK);
    taper_heap_close(f.heap);
    assert_int_equal(inner->count, 2);
    assert_string_equal(inner->items[1].as.string->data, "still here");
    assert_int_equal(outer->items[0].as.list->count, 2);
    taper_list_clear(outer); // breaks the cycle, which nothing else would break after the heap was closed
    taper_val_release(TAPER_VAL(inner));
    taper_types_release(f.types);
    assert_int_equal(atomic_load(&f.memory.blocks), 0);
}

static void deep_structures_are_freed(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_val value = taper_val_int(1);
    for (int i = 0; i < 500000; i++) { // recursion of this depth would overflow the stack
        taper_tuple *t = taper_tuple_new(f.heap, NULL, 1);
        t->items[0] = value;
        value = TAPER_VAL(t);
    }
    taper_val_release(value);
    close_heap(&f);
}

static void the_limit_holds(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_heap_set_limit(f.heap, 100000);
    void *blocks[200] = {NULL};
    size_t got = 0;
    while (got < 200 && (blocks[got] = taper_heap_alloc(f.heap, 1000)) != NULL) {
        got++;
    }
    assert_true(got > 80 && got <= 100);
    assert_null(taper_heap_alloc(f.heap, 50000));
    for (size_t i = 0; i < got; i++) {
        taper_heap_free(f.heap, blocks[i], 1000);
    }
    void *large = taper_heap_alloc(f.heap, 50000); // the freed bytes no longer count towards the limit
    assert_non_null(large);
    taper_heap_free(f.heap, large, 50000);
    close_heap(&f);
}

static void copies_share_and_stay_apart(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_heap *other;
    assert_int_equal(taper_heap_create(&f.memory.allocator, f.types, &other, NULL), TAPER_OK);
    taper_tensor *x;
    assert_int_equal(taper_tensor_zeros(f.heap, TAPER_F32, 1, (int64_t[]){3}, &x, NULL), TAPER_OK);
    taper_list *l = taper_list_new(f.heap, NULL, 0);
    assert_int_equal(taper_list_append(l, taper_val_retain(TAPER_VAL(x)), NULL), TAPER_OK);
    assert_int_equal(taper_list_append(l, TAPER_VAL(x), NULL), TAPER_OK);
    assert_int_equal(taper_list_append(l, taper_val_retain(TAPER_VAL(l)), NULL), TAPER_OK);
    taper_clone_memo *memo;
    taper_val copy;
    assert_int_equal(taper_clone_begin(other, &memo, NULL), TAPER_OK);
    assert_int_equal(taper_clone_value(memo, TAPER_VAL(l), &copy, NULL), TAPER_OK);
    taper_clone_end(memo);
    taper_list *c = copy.as.list;
    assert_ptr_not_equal(c, l);
    assert_ptr_equal(c->items[0].as.tensor, c->items[1].as.tensor); // shared items remain shared
    assert_ptr_equal(c->items[2].as.list, c);                       // cycles remain cycles
    taper_tensor *y = c->items[0].as.tensor;
    assert_ptr_equal(taper_tensor_data(y), taper_tensor_data(x)); // nothing is copied before the first write
    assert_int_equal(taper_storage_write(y->storage, NULL), TAPER_OK);
    ((float *)taper_tensor_mutable(y))[0] = 5;
    assert_true(((const float *)taper_tensor_data(x))[0] == 0);
    taper_val_release(copy);
    taper_val_release(TAPER_VAL(l));
    taper_heap_close(other);
    close_heap(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_reused),           cmocka_unit_test(larger_blocks_do),
        cmocka_unit_test(cycles_go_when_it_closes),    cmocka_unit_test(what_is_held_outlives_it),
        cmocka_unit_test(deep_structures_are_freed),   cmocka_unit_test(the_limit_holds),
        cmocka_unit_test(copies_share_and_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
