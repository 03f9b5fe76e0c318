// SPDX-License-Identifier: BSD-2-Clause
// Manages the blocks of a heap. Free blocks are in lists by size class: multiples of 16 bytes up to 1 KiB, then four
// classes for each power of two. Inputs with ever new shapes therefore cannot make the heap grow without bound. A block
// of 1 KiB or more stores the allocator's own pointer and its class before its aligned start. The system takes longer
// to provide new pages than kernels take to compute in them. If the class of a storage has no free block, the storage
// therefore takes a block of up to four times its size.
#include "ir/heap.h"

#include "base/budget.h"

enum {
    SMALL_LIMIT = 1024,
    SMALL_STEP = 16,
    SMALL_CLASSES = SMALL_LIMIT / SMALL_STEP,
    LARGE_CLASSES = 4 * (sizeof(size_t) == 8 ? 48 : 21),
    LEAST_SHARED = 1 << 16, // size of the smallest storage that may take a larger block, in bytes
    CLASSES_SHARED = 8      // number of larger classes from which a storage may take a block
};

typedef struct free_block {
    struct free_block *next;
} free_block;

// Tells AddressSanitizer which blocks are in the free lists, because it would otherwise count these blocks as
// allocated.
#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(void const volatile *block, size_t size);
void __asan_unpoison_memory_region(void const volatile *block, size_t size);
#define HIDE(block, size) __asan_poison_memory_region(block, size)
#define SHOW(block, size) __asan_unpoison_memory_region(block, size)
#else
#define HIDE(block, size) ((void)(block), (void)(size))
#define SHOW(block, size) ((void)(block), (void)(size))
#endif

struct taper_heap {
    taper_allocator allocator;
    taper_types *types;
    taper_spin lock;
    size_t live; // number of live objects, plus one for the owner
    taper_container *containers;
    _Atomic(taper_storage_source *) source; // source of storages; every thread that frees a storage reads this pointer
    size_t bytes, used;
    atomic_uint copies;
    // `limit` and `calls` are read without the lock, and between runs they are also set without the lock. They are
    // atomic because other threads may create values from results between runs.
    _Atomic(size_t) limit, calls;
    atomic_bool refused; // true if the limit refused a block since it was set
    free_block *small[SMALL_CLASSES + 1];
    // Free blocks of each large class; the last CLASSES_SHARED lists are always empty.
    free_block *large[LARGE_CLASSES + CLASSES_SHARED];
    // For each large class, the number of blocks in use that are not storages (scratch memory of operators), and the
    // largest such number so far. taper_heap_trim_storages, called after a memory plan was made, keeps as many blocks
    // as that largest number.
    uint32_t scratch_live[LARGE_CLASSES], scratch_peak[LARGE_CLASSES];
};

taper_status taper_heap_create(const taper_allocator *allocator, taper_types *types, taper_heap **heap,
                               taper_error *error)
{
    *heap = taper_alloc_zeroed(allocator, sizeof **heap);
    if (*heap == NULL) {
        return taper_fail_memory(error);
    }
    (*heap)->allocator = *allocator;
    taper_allocator_hold(allocator);
    (*heap)->types = taper_types_retain(types);
    (*heap)->live = 1;
    taper_spin_init(&(*heap)->lock);
    return TAPER_OK;
}

const taper_allocator *taper_heap_allocator(const taper_heap *heap)
{
    return &heap->allocator;
}

taper_types *taper_heap_types(const taper_heap *heap)
{
    return heap->types;
}

void taper_heap_set_source(taper_heap *heap, taper_storage_source *source)
{
    taper_spin_lock(&heap->lock); // after the lock is taken, no thread is in a call of the old source
    atomic_store_explicit(&heap->source, source, memory_order_release);
    taper_spin_unlock(&heap->lock);
}

taper_storage_source *taper_heap_source(taper_heap *heap)
{
    return atomic_load_explicit(&heap->source, memory_order_acquire);
}

// Takes the lock, which keeps the source valid. Any thread may release results, even while the session and its source
// end.
void taper_heap_storage_died(taper_heap *heap, struct taper_storage *storage)
{
    taper_spin_lock(&heap->lock);
    taper_storage_source *source = taper_heap_source(heap);
    if (source != NULL && source->died != NULL) {
        source->died(source, storage);
    }
    taper_spin_unlock(&heap->lock);
}

void taper_heap_set_limit(taper_heap *heap, size_t bytes)
{
    atomic_store_explicit(&heap->limit, bytes, memory_order_relaxed);
    atomic_store_explicit(&heap->refused, false, memory_order_relaxed);
}

size_t taper_heap_limit_met(const taper_heap *heap)
{
    taper_heap *h = (taper_heap *)(uintptr_t)heap;
    return atomic_load_explicit(&h->refused, memory_order_relaxed)
               ? atomic_load_explicit(&h->limit, memory_order_relaxed)
               : 0;
}

uint64_t taper_heap_calls(const taper_heap *heap)
{
    return atomic_load_explicit(&((taper_heap *)(uintptr_t)heap)->calls, memory_order_relaxed);
}

size_t taper_heap_bytes(const taper_heap *heap)
{
    return heap->bytes;
}

unsigned taper_heap_copies(const taper_heap *heap)
{
    return atomic_load_explicit(&((taper_heap *)(uintptr_t)heap)->copies, memory_order_relaxed);
}

void taper_heap_copied(taper_heap *heap)
{
    atomic_fetch_add_explicit(&heap->copies, 1u, memory_order_relaxed);
}

// Returns the class of a large size. *block receives the size of its blocks: the smallest number from `size` on that is
// 1, 1.25, 1.5 or 1.75 times a power of two.
static size_t large_class(size_t size, size_t *block)
{
    const unsigned power = 63 - (unsigned)__builtin_clzll(size);
    const size_t step = (size_t)1 << (power - 2);
    const size_t quarter = (size - ((size_t)1 << power) + step - 1) >> (power - 2);
    *block = ((size_t)1 << power) + (quarter << (power - 2));
    return (size_t)(power - 10) * 4 + quarter;
}

// Returns a distance in bytes by which the start of a large block is moved. Allocators start large blocks at the
// beginning of a page, and so do the host's inputs. If an input begins at the start of a page, and a result begins one
// cache line after the start of a page, loads wait for stores to addresses with the same low 12 bits.
static size_t apart(size_t block)
{
    enum { PAGES = 1 << 16, APART = 1024 };
    return block >= PAGES ? APART : 0;
}

static size_t raw_size(size_t block)
{
    return block + apart(block) + 2 * TAPER_ALIGNMENT + TAPER_OVERREAD;
}

// Data that is stored directly before a large block.
typedef struct block_head {
    size_t class;
    void *raw;
} block_head;

static block_head head_of(void *ptr)
{
    block_head head;
    memcpy(&head, (char *)ptr - sizeof head, sizeof head);
    return head;
}

static size_t class_size(size_t class)
{
    const size_t power = (size_t)1 << (class / 4 + 10);
    return power + class % 4 * (power / 4);
}

static void count_call(taper_heap *heap) // the caller must hold the lock
{
    const size_t calls = atomic_load_explicit(&heap->calls, memory_order_relaxed);
    atomic_store_explicit(&heap->calls, calls + 1, memory_order_relaxed);
}

static bool charge(taper_heap *heap, size_t size)
{
    const size_t limit = atomic_load_explicit(&heap->limit, memory_order_relaxed);
    if (limit != 0 && (heap->used > limit || size > limit - heap->used)) {
        atomic_store_explicit(&heap->refused, true, memory_order_relaxed);
        return false;
    }
    heap->used += size;
    return true;
}

// Takes a block from the list, or returns NULL if the list is empty. size: size of each block in bytes, for
// AddressSanitizer.
static void *take(free_block **list, size_t size)
{
    free_block *block = *list;
    if (block != NULL) {
        SHOW(block, size);
        *list = block->next;
    }
    return block;
}

static void put(free_block **list, free_block *block, size_t size)
{
    block->next = *list;
    *list = block;
    HIDE(block, size);
}

static void count_scratch(taper_heap *heap, size_t class)
{
    const uint32_t live = ++heap->scratch_live[class];
    if (live > heap->scratch_peak[class]) {
        heap->scratch_peak[class] = live;
    }
}

static void *take_large(taper_heap *heap, size_t class, bool shares)
{
    unsigned left = shares ? 1 + CLASSES_SHARED : 1;
    void *ptr;
    do {
        ptr = take(&heap->large[class], class_size(class));
        class ++;
    } while (ptr == NULL && --left != 0);
    return ptr;
}

static void *alloc_large(taper_heap *heap, size_t size, bool scratch, bool fresh)
{
    if (size > (size_t)TAPER_LIMIT_TENSOR_BYTES) {
        return NULL;
    }
    size_t block;
    const size_t class = large_class(size, &block);
    if (class >= LARGE_CLASSES) {
        return NULL;
    }
    taper_spin_lock(&heap->lock);
    void *ptr = NULL;
    const bool allowed = charge(heap, block);
    if (allowed) {
        if (scratch) {
            count_scratch(heap, class);
        }
        ptr = fresh ? NULL : take_large(heap, class, !scratch && size >= LEAST_SHARED);
        if (ptr == NULL) {
            count_call(heap);
            heap->bytes += raw_size(block);
        }
    }
    taper_spin_unlock(&heap->lock);
    if (ptr != NULL || !allowed) {
        return ptr;
    }
    char *raw = taper_alloc(&heap->allocator, raw_size(block));
    if (raw == NULL) {
        taper_spin_lock(&heap->lock);
        heap->used -= block;
        heap->bytes -= raw_size(block);
        heap->scratch_live[class] -= scratch;
        taper_spin_unlock(&heap->lock);
        return NULL;
    }
    const block_head head = {class, raw};
    char *aligned = (char *)taper_round_up((uintptr_t)raw + apart(block) + sizeof head, TAPER_ALIGNMENT);
    memcpy(aligned - sizeof head, &head, sizeof head);
    memset(aligned + size, 0, TAPER_OVERREAD); // clears the bytes after the block, because kernels may read them
    return aligned;
}

static void *alloc_any(taper_heap *heap, size_t size, bool scratch, bool fresh)
{
    if (size >= SMALL_LIMIT) {
        return alloc_large(heap, size, scratch, fresh);
    }
    const size_t class = (size + SMALL_STEP - 1) / SMALL_STEP + (size == 0);
    const size_t block = class * SMALL_STEP;
    taper_spin_lock(&heap->lock);
    void *ptr = NULL;
    const bool allowed = charge(heap, block);
    if (allowed) {
        ptr = fresh ? NULL : take(&heap->small[class], block);
        if (ptr == NULL) {
            count_call(heap);
            heap->bytes += block;
        }
    }
    taper_spin_unlock(&heap->lock);
    if (ptr == NULL && allowed) {
        ptr = taper_alloc(&heap->allocator, block);
        if (ptr == NULL) {
            taper_spin_lock(&heap->lock);
            heap->used -= block;
            heap->bytes -= block;
            taper_spin_unlock(&heap->lock);
        }
    }
    return ptr;
}

void *taper_heap_alloc(taper_heap *heap, size_t size)
{
    return alloc_any(heap, size, true, false);
}

void *taper_heap_alloc_lasting(taper_heap *heap, size_t size, bool replaces)
{
    return alloc_any(heap, size, false, !replaces);
}

void taper_heap_free_lasting(taper_heap *heap, void *ptr, size_t size)
{
    taper_heap_free_storage(heap, ptr, size);
}

void *taper_heap_alloc_storage(taper_heap *heap, size_t size)
{
    return alloc_large(heap, size, false, false);
}

static void free_any(taper_heap *heap, void *ptr, size_t size, bool scratch)
{
    if (ptr == NULL) {
        return;
    }
    free_block *block = ptr;
    taper_spin_lock(&heap->lock);
    if (size >= SMALL_LIMIT) {
        size_t bytes;
        const size_t class = large_class(size, &bytes);
        const size_t own = head_of(ptr).class; // class of the block, which may be larger than the class for `size`
        heap->scratch_live[class] -= scratch;
        put(&heap->large[own], block, class_size(own));
        heap->used -= bytes;
    } else {
        const size_t class = (size + SMALL_STEP - 1) / SMALL_STEP + (size == 0);
        put(&heap->small[class], block, class * SMALL_STEP);
        heap->used -= class * SMALL_STEP;
    }
    taper_spin_unlock(&heap->lock);
}

void taper_heap_free(taper_heap *heap, void *ptr, size_t size)
{
    free_any(heap, ptr, size, true);
}

void taper_heap_free_storage(taper_heap *heap, void *ptr, size_t size)
{
    free_any(heap, ptr, size, false);
}

// Returns a chain of blocks, which are in no list, to the allocator. size: size of each block in bytes; large: true for
// blocks of a large class.
static void give_back(taper_heap *heap, free_block *block, size_t size, bool large)
{
    const size_t raw = large ? raw_size(size) : size;
    while (block != NULL) {
        SHOW(block, size);
        free_block *next = block->next;
        taper_free(&heap->allocator, large ? head_of(block).raw : block, raw);
        taper_spin_lock(&heap->lock);
        heap->bytes -= raw;
        taper_spin_unlock(&heap->lock);
        block = next;
    }
}

// Frees all blocks of a large class. If scratch_stays is true, keeps the blocks that scratch memory needs.
static void trim_large(taper_heap *heap, size_t class, bool scratch_stays)
{
    taper_spin_lock(&heap->lock);
    uint32_t keep = scratch_stays ? heap->scratch_peak[class] - heap->scratch_live[class] : 0;
    free_block **link = &heap->large[class];
    while (*link != NULL && keep > 0) {
        SHOW(*link, sizeof **link);
        link = &(*link)->next;
        keep--;
    }
    free_block *block = *link;
    *link = NULL;
    taper_spin_unlock(&heap->lock);
    give_back(heap, block, class_size(class), true);
}

void taper_heap_trim_storages(taper_heap *heap)
{
    for (size_t class = 0; class < LARGE_CLASSES; class ++) {
        trim_large(heap, class, true);
    }
}

void taper_heap_trim(taper_heap *heap)
{
    for (size_t class = 0; class <= SMALL_CLASSES; class ++) {
        taper_spin_lock(&heap->lock);
        free_block *block = heap->small[class];
        heap->small[class] = NULL;
        taper_spin_unlock(&heap->lock);
        give_back(heap, block, class * SMALL_STEP, false);
    }
    for (size_t class = 0; class < LARGE_CLASSES; class ++) {
        trim_large(heap, class, false);
    }
}

static void destroy(taper_heap *heap)
{
    taper_heap_trim(heap);
    taper_types_release(heap->types);
    const taper_allocator allocator = heap->allocator;
    taper_free(&allocator, heap, sizeof *heap);
    taper_allocator_let_go(&allocator);
}

static bool is_container(const taper_obj *obj)
{
    return obj->tag >= TAPER_LIST && obj->tag <= TAPER_OBJECT;
}

void taper_heap_adopt(taper_heap *heap, taper_obj *obj, taper_tag tag)
{
    taper_refs_init(&obj->refs);
    obj->tag = (uint8_t)tag;
    obj->heap = heap;
    taper_spin_lock(&heap->lock);
    heap->live++;
    if (is_container(obj)) {
        taper_container *container = (taper_container *)obj;
        container->previous = NULL;
        container->scan = 0;
        container->next = heap->containers;
        if (container->next != NULL) {
            container->next->previous = container;
        }
        heap->containers = container;
    }
    taper_spin_unlock(&heap->lock);
}

// Call this function for a container that is being freed, before its items change, because taper_heap_close reads the
// items of all containers in the list.
void taper_heap_unlink(taper_heap *heap, taper_container *container)
{
    taper_spin_lock(&heap->lock);
    if (container->previous != NULL) {
        container->previous->next = container->next;
    } else {
        heap->containers = container->next;
    }
    if (container->next != NULL) {
        container->next->previous = container->previous;
    }
    taper_spin_unlock(&heap->lock);
}

// Counts one object less, and frees the heap after the last object. Call this after the memory of the object is freed.
void taper_heap_forget(taper_heap *heap)
{
    taper_spin_lock(&heap->lock);
    const bool last = --heap->live == 0;
    taper_spin_unlock(&heap->lock);
    if (last) {
        destroy(heap);
    }
}

// ---- cycles, at the end of the owner's use

typedef void (*visit)(taper_container *child, void *argument);

static void visit_children(taper_container *container, const taper_heap *heap, visit function, void *argument)
{
    size_t count;
    taper_val *items = taper_container_items(container, &count);
    for (size_t i = 0; i < count; i++) {
        if (taper_val_is_object(items[i]) && is_container(items[i].as.obj) && items[i].as.obj->heap == heap) {
            function((taper_container *)items[i].as.obj, argument);
        }
    }
}

static void discount(taper_container *child, void *argument)
{
    (void)argument;
    child->scan--;
}

enum { REACHED = -1 };

static void reach(taper_container *child, void *argument)
{
    taper_container **stack = argument;
    if (child->scan != REACHED) {
        child->scan = REACHED;
        child->work = *stack;
        *stack = child;
    }
}

void taper_heap_close(taper_heap *heap)
{
    if (heap == NULL) {
        return;
    }
    taper_heap_set_source(heap, NULL);
    taper_spin_lock(&heap->lock);
    // If a container has more references than the containers of this heap hold, other code holds it.
    for (taper_container *c = heap->containers; c != NULL; c = c->next) {
        c->scan = (int64_t)taper_refs_count(&c->head.refs);
    }
    for (taper_container *c = heap->containers; c != NULL; c = c->next) {
        if (taper_refs_count(&c->head.refs) != 0) {
            visit_children(c, heap, discount, NULL);
        }
    }
    taper_container *stack = NULL;
    for (taper_container *c = heap->containers; c != NULL; c = c->next) {
        // A count of 0 means that another thread is freeing the container.
        if (c->scan > 0 || taper_refs_count(&c->head.refs) == 0) {
            reach(c, &stack);
            while (stack != NULL) {
                taper_container *top = stack;
                stack = top->work;
                visit_children(top, heap, reach, &stack);
            }
        }
    }
    taper_container *garbage = NULL;
    for (taper_container *c = heap->containers; c != NULL; c = c->next) {
        if (c->scan != REACHED) {
            taper_obj_retain(&c->head);
            c->work = garbage;
            garbage = c;
        }
    }
    taper_spin_unlock(&heap->lock);
    while (garbage != NULL) {
        taper_container *c = garbage;
        garbage = c->work;
        taper_container_clear(c);
        taper_obj_release(&c->head);
    }
    taper_heap_trim(heap);
    taper_heap_forget(heap);
}
