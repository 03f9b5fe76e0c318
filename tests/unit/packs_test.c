// SPDX-License-Identifier: BSD-2-Clause
// Tests packed weights (packs): they are made once from the model's weights, in parts on all threads. A pack whose
// making was interrupted must not be kept. A host's thread pool is not used to fill packs.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/packs.h"
#include "ops/call/packs_file.h"
#include "ops/call/packs_later.h"
#include "ops/call/parallel.h"
#include "tests/unit/heap_fixture.h"

enum { PARTS = 64, PART = 4096 };

typedef struct fixture {
    heap_fixture heaps;
    taper_heap *session;
    taper_packs *packs;
    taper_tensor *weight; // the session's tensor over the model's weight
    taper_storage *origin;
    taper_run run;
    taper_call call;
    void *state;
} fixture;

static atomic_uint filled, heads;

static void head(const taper_pack_request *request, void *data)
{
    (void)request;
    memset(data, 7, 16);
    atomic_fetch_add(&heads, 1u);
}

static void parts(const taper_pack_request *request, void *data, size_t first, size_t end)
{
    assert_true(end <= request->parts);
    for (size_t i = first; i < end; i++) {
        memset((char *)data + 16 + i * PART, (int)i + 1, PART);
        atomic_fetch_add(&filled, 1u);
    }
}

static void open_fixture(fixture *f, unsigned threads, const taper_thread_pool *host)
{
    static const int64_t sizes[] = {4};
    open_heap(&f->heaps);
    taper_pool *pool;
    assert_int_equal(taper_heap_create(&f->heaps.memory.allocator, f->heaps.types, &f->session, NULL), TAPER_OK);
    assert_int_equal(taper_packs_create(&f->heaps.memory.allocator, &f->packs, NULL), TAPER_OK);
    assert_int_equal(taper_pool_create(&taper_allocator_system, threads, host, &pool, NULL), TAPER_OK);
    taper_packs_belong(f->packs, f->heaps.heap);
    taper_storage *shared;
    assert_int_equal(taper_storage_new(f->heaps.heap, 4 * sizeof(float), &f->origin, NULL), TAPER_OK);
    assert_int_equal(taper_storage_share(f->session, f->origin, &shared, NULL), TAPER_OK);
    assert_int_equal(taper_tensor_view(f->session, shared, TAPER_F32, 0, 1, sizes, NULL, &f->weight, NULL), TAPER_OK);
    taper_obj_release(&shared->head);
    f->run = (taper_run){.heap = f->session, .pool = pool, .packs = f->packs};
    f->state = NULL;
    f->call = (taper_call){.run = &f->run, .state = &f->state};
    atomic_store(&filled, 0);
    atomic_store(&heads, 0);
}

static void close_fixture(fixture *f)
{
    taper_obj_release(&f->weight->head);
    taper_obj_release(&f->origin->head);
    taper_packs_destroy(f->packs);
    taper_pool_destroy(f->run.pool);
    taper_heap_close(f->session);
    close_heap(&f->heaps);
}

static taper_pack_request request_of(const fixture *f)
{
    static const char kind = 0;
    return (taper_pack_request){.kind = &kind,
                                .tensors = {f->weight},
                                .bytes = 16 + (size_t)PARTS * PART,
                                .fill = head,
                                .fill_parts = parts,
                                .parts = PARTS};
}

static void assert_whole(const taper_pack *pack)
{
    const unsigned char *bytes = pack->data;
    assert_int_equal(bytes[0], 7);
    for (size_t i = 0; i < (size_t)PARTS * PART; i++) {
        assert_int_equal(bytes[16 + i], i / PART + 1);
    }
}

// The first call gets a pack in memory that the next pack reuses (a loan), the second call stores the pack permanently,
// and later calls find it.
static void made_for_good(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        fixture f;
        open_fixture(&f, threads, NULL);
        const taper_pack_request request = request_of(&f);
        assert_true(taper_packs_keep(&f.call, &request));
        const void *lies = NULL;
        const atomic_bool *is_there = NULL;
        for (int round = 0; round < 4; round++) {
            taper_pack pack;
            f.state = round == 3 ? NULL : f.state; // a call by another instruction
            assert_int_equal(taper_pack_get(&f.call, &request, &pack), TAPER_OK);
            assert_true(pack.kept);
            assert_true(lies == NULL || pack.lies == lies);
            assert_int_equal(pack.data != pack.lies, round == 0);
            assert_int_equal(pack.is_there != NULL, round == 0);
            is_there = round == 0 ? pack.is_there : is_there;
            assert_int_equal(atomic_load(is_there), round != 0);
            lies = pack.lies;
            assert_whole(&pack);
            taper_pack_done(&f.call, &pack);
            assert_null(taper_packs_after_run(f.packs));
        }
        assert_int_equal(atomic_load(&filled), 2 * PARTS);
        assert_int_equal(atomic_load(&heads), 2);
        close_fixture(&f);
    }
}

// If several calls run at the same time, one of them gets its pack as a loan. A call that requests the same pack while
// it is on loan gets a permanent pack.
static void lent_to_one(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 1, NULL);
    taper_pack_request request = request_of(&f);
    taper_pack lent, other, same;
    assert_int_equal(taper_pack_get(&f.call, &request, &lent), TAPER_OK);
    assert_non_null(lent.is_there);
    request.numbers[0] = 1;
    assert_int_equal(taper_pack_get(&f.call, &request, &other), TAPER_OK);
    assert_null(other.is_there);
    request.numbers[0] = 0;
    assert_int_equal(taper_pack_get(&f.call, &request, &same), TAPER_OK);
    assert_null(same.is_there);
    assert_ptr_equal(same.data, lent.lies);
    assert_null(taper_packs_after_run(f.packs)); // the end of another session's run must not free the loan
    assert_whole(&lent);
    assert_whole(&other);
    assert_whole(&same);
    taper_pack_done(&f.call, &same);
    taper_pack_done(&f.call, &other);
    taper_pack_done(&f.call, &lent);
    request.numbers[0] = 2; // the memory of the loan is available for the next pack
    assert_int_equal(taper_pack_get(&f.call, &request, &lent), TAPER_OK);
    assert_non_null(lent.is_there);
    taper_pack_done(&f.call, &lent);
    close_fixture(&f);
}

// If the session has changed the weights, they are packed for each call.
static void not_kept(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 2, NULL);
    assert_int_equal(taper_storage_write(f.weight->storage, NULL), TAPER_OK);
    const taper_pack_request request = request_of(&f);
    assert_false(taper_packs_keep(&f.call, &request));
    for (unsigned round = 1; round <= 2; round++) {
        taper_pack pack;
        assert_int_equal(taper_pack_get(&f.call, &request, &pack), TAPER_OK);
        assert_false(pack.kept);
        assert_whole(&pack);
        taper_pack_done(&f.call, &pack);
        assert_int_equal(atomic_load(&filled), round * PARTS);
    }
    assert_int_equal(taper_packs_bytes(f.packs), 0);
    close_fixture(&f);
}

static taper_status stop(taper_run *run, double ahead)
{
    (void)run, (void)ahead;
    return TAPER_ERROR_CANCELLED;
}

// A cancelled run must not leave a partly filled pack.
static void cancelled(void **state)
{
    (void)state;
    for (int kept = 0; kept < 2; kept++) {
        fixture f;
        open_fixture(&f, 3, NULL);
        if (kept == 0) {
            assert_int_equal(taper_storage_write(f.weight->storage, NULL), TAPER_OK);
        }
        taper_pack_request request = request_of(&f);
        request.bytes = (size_t)64 << 20; // large enough for several threads, which then check for cancelling
        f.run.stop = stop;
        taper_pack pack = {.data = NULL};
        assert_int_not_equal(taper_pack_get(&f.call, &request, &pack), TAPER_OK);
        assert_true(atomic_load(&filled) < PARTS);
        assert_int_equal(taper_packs_bytes(f.packs), 0);
        f.run.stop = NULL;
        f.run.ended = TAPER_OK;
        assert_int_equal(taper_pack_get(&f.call, &request, &pack), TAPER_OK);
        assert_whole(&pack);
        taper_pack_done(&f.call, &pack);
        close_fixture(&f);
    }
}

static size_t host_threads(void *user)
{
    (void)user;
    return 4;
}

static void host_run(void *user, void (*task)(void *argument, size_t index), void *argument, size_t count)
{
    (void)task, (void)argument, (void)count;
    *(bool *)user = true;
}

static void no_host_threads(void **state)
{
    (void)state;
    fixture f;
    bool asked = false;
    const taper_thread_pool host = {.user = &asked, .thread_count = host_threads, .run = host_run};
    open_fixture(&f, 0, &host);
    taper_pack_request request = request_of(&f);
    request.bytes = (size_t)64 << 20;
    taper_pack pack;
    assert_int_equal(taper_pack_get(&f.call, &request, &pack), TAPER_OK);
    assert_whole(&pack);
    assert_false(asked);
    taper_pack_done(&f.call, &pack);
    close_fixture(&f);
}

static void use_file(fixture *f, const char *directory)
{
    static const taper_packs_source source = {.identity = 7, .data = "", .size = 1 << 20};
    taper_packs_file *file;
    assert_int_equal(taper_packs_file_open(&f->heaps.memory.allocator, directory, &source, &file, NULL), TAPER_OK);
    taper_packs_use_file(f->packs, file);
}

static void get(fixture *f, int64_t number, const char *layout)
{
    taper_pack_request request = request_of(f);
    taper_pack pack;
    request.numbers[0] = number;
    request.layout = layout;
    request.kernel = "kernel";
    f->state = NULL;
    assert_int_equal(taper_pack_get(&f->call, &request, &pack), TAPER_OK);
    assert_whole(&pack);
    taper_pack_done(&f->call, &pack);
}

// Packs that one process has made, and its background thread has written, must be found by the next process, which
// makes only the missing ones.
static void in_a_file(void **state)
{
    (void)state;
    enum { NAMED = 6 };
    char directory[] = "/tmp/taper-packs-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof path, "%s/taper-0000000000000007.packs", directory);
    for (int process = 0; process < 3; process++) {
        fixture f;
        open_fixture(&f, 3, NULL);
        memset(f.origin->data, 1, f.origin->bytes);
        use_file(&f, directory);
        for (int64_t i = 0; i < NAMED; i++) {
            get(&f, i, "layout");
            assert_null(taper_packs_after_run(f.packs));
        }
        get(&f, 100, NULL); // this pack has no name for the file
        assert_int_equal(atomic_load(&heads), process == 0 ? NAMED + 1 : 1);
        // The library writes the file at the end of this run, because the run needed no new packs.
        assert_null(taper_packs_after_run(f.packs));
        for (int64_t i = 0; i <= NAMED; i++) { // no pack is written while packs are made or runs are active
            get(&f, i, "layout");
        }
        assert_int_equal(atomic_load(&heads), process == 0 ? NAMED + 2 : 1);
        if (process == 2) { // the second process changes its weights
            memset(f.origin->data, 2, f.origin->bytes);
            get(&f, NAMED + 1, "layout");
            assert_int_equal(atomic_load(&heads), 2);
        }
        assert_null(taper_packs_end(f.packs));
        assert_int_equal(access(path, F_OK), 0);
        close_fixture(&f);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_for_good), cmocka_unit_test(lent_to_one),     cmocka_unit_test(not_kept),
        cmocka_unit_test(cancelled),     cmocka_unit_test(no_host_threads), cmocka_unit_test(in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
