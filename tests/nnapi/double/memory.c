// SPDX-License-Identifier: BSD-2-Clause
// Memory objects: mapped files, and memory of descriptors (API level 30), which programs cannot access.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"

static void destroy_memory(void *body)
{
    memory_body *memory = body;
    if (memory->mapped != 0) {
        munmap(memory->bytes, memory->mapped);
    } else {
        free(memory->bytes);
    }
    free(memory->roles);
    free(memory);
}

static int give(memory_body *body, ANeuralNetworksMemory **memory)
{
    *memory = double_object(DOUBLE_MEMORY, body, destroy_memory);
    if (*memory == NULL) {
        destroy_memory(body);
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset, ANeuralNetworksMemory **memory)
{
    ENTER;
    struct stat status;
    if (memory == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the memory should go is NULL");
    }
    *memory = NULL;
    if (size == 0 || fd < 0 || fstat(fd, &status) != 0) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "%zu bytes of descriptor %d", size, fd);
    }
    if ((protect & ~(PROT_READ | PROT_WRITE)) != 0 || protect == 0) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "protection %d", protect);
    }
    if (offset % (size_t)sysconf(_SC_PAGESIZE) != 0) {
        MISUSE(ANEURALNETWORKS_UNMAPPABLE, "offset %zu is not that of a page", offset);
    }
    if ((uint64_t)offset + size < size || (uint64_t)offset + size > (uint64_t)status.st_size) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "%zu bytes from %zu of a file of %lld", size, offset,
               (long long)status.st_size);
    }
    void *bytes = mmap(NULL, size, protect, MAP_SHARED, fd, (off_t)offset);
    if (bytes == MAP_FAILED) {
        MISUSE(ANEURALNETWORKS_UNMAPPABLE, "mapping: %s", strerror(errno));
    }
    memory_body *body = calloc(1, sizeof *body);
    if (body == NULL) {
        munmap(bytes, size);
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    body->bytes = bytes;
    body->size = body->mapped = size;
    body->readable = (protect & PROT_READ) != 0;
    body->writable = (protect & PROT_WRITE) != 0;
    body->filled = true;
    LEAVE(give(body, memory));
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory)
{
    (void)double_enter(__func__);
    memory_body *body;
    if (double_end(memory, DOUBLE_MEMORY, &body) == ANEURALNETWORKS_NO_ERROR) {
        if (body->head.holders > 1) {
            (void)double_misuse(0, "a model or an execution still uses the memory");
        }
        double_drop(body);
    }
    double_leave();
}

int double_check_region(const memory_body *memory, const memory_role *role, size_t offset, size_t *length, int32_t type)
{
    if (memory->roles != NULL) {
        bool has = role == NULL;
        for (uint32_t i = 0; i < memory->role_count && !has; i++) {
            const memory_role *one = &memory->roles[i];
            has = one->compilation == role->compilation && one->index == role->index && one->output == role->output;
        }
        if (!has) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "the memory's descriptor does not have this role");
        }
        if (offset != 0 || *length != 0) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "memory of a descriptor with offset %zu and length %zu",
                                 offset, *length);
        }
        *length = memory->size;
        return ANEURALNETWORKS_NO_ERROR;
    }
    if (offset > memory->size || *length > memory->size - offset) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "%zu bytes from %zu of %zu", *length, offset, memory->size);
    }
    if (offset % type_width(type) != 0) { // a misuse, because drivers read elements in place
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "offset %zu is not aligned for type %d", offset, type);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

#if DOUBLE_LEVEL >= 29
int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer *buffer, ANeuralNetworksMemory **memory)
{
    ENTER;
    if (buffer == NULL || memory == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "no %s", buffer == NULL ? "buffer" : "memory");
    }
    MISUSE(ANEURALNETWORKS_UNMAPPABLE, "there are no hardware buffers here");
}
#endif

#if DOUBLE_LEVEL >= 30

typedef struct desc_body {
    double_body head;
    memory_role *roles;
    uint32_t role_count;
    tensor t; // type of the first role; further roles add sizes to it
    bool finished;
} desc_body;

static void destroy_desc(void *body)
{
    desc_body *desc = body;
    free(desc->roles);
    free(desc);
}

int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc **desc)
{
    ENTER;
    if (desc == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the descriptor should go is NULL");
    }
    desc_body *body = calloc(1, sizeof *body);
    *desc = body != NULL ? double_object(DOUBLE_MEMORY_DESC, body, destroy_desc) : NULL;
    if (*desc == NULL) {
        free(body);
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc *desc)
{
    (void)double_enter(__func__);
    desc_body *body;
    if (double_end(desc, DOUBLE_MEMORY_DESC, &body) == ANEURALNETWORKS_NO_ERROR) {
        double_drop(body);
    }
    double_leave();
}

static int find_open(const ANeuralNetworksMemoryDesc *desc, desc_body **body)
{
    const int code = double_find(desc, DOUBLE_MEMORY_DESC, body);
    if (code == ANEURALNETWORKS_NO_ERROR && (*body)->finished) {
        return double_misuse(ANEURALNETWORKS_BAD_STATE, "the descriptor is finished");
    }
    return code;
}

// Merges sizes from two sources. If both sources know a size, it must be equal in both; if only one source knows it,
// that size is taken.
static int merge_sizes(tensor *to, uint32_t rank, const uint32_t *sizes)
{
    if (to->rank == 0) {
        set_sizes(to, rank, sizes);
        return ANEURALNETWORKS_NO_ERROR;
    }
    for (uint32_t i = 0; i < rank; i++) {
        if (rank != to->rank || (sizes[i] != 0 && to->sizes[i] != 0 && sizes[i] != to->sizes[i])) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "the descriptor's sizes contradict each other");
        }
        to->sizes[i] = to->sizes[i] != 0 ? to->sizes[i] : sizes[i];
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static int add_role(ANeuralNetworksMemoryDesc *desc, const ANeuralNetworksCompilation *compilation, uint32_t index,
                    float frequency, bool output)
{
    desc_body *body;
    compilation_body *of;
    int code = find_open(desc, &body);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    code = double_find(compilation, DOUBLE_COMPILATION, &of);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    const char *what = output ? "output" : "input";
    const uint32_t count = output ? of->model->output_count : of->model->input_count;
    if (!of->finished) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "the compilation is not finished");
    }
    if (index >= count || !(frequency > 0.0f && frequency <= 1.0f)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "%s %u of %u with frequency %g", what, index, count,
                             (double)frequency);
    }
    const memory_role role = {of->head.id, index, output};
    for (uint32_t i = 0; i < body->role_count; i++) {
        if (body->roles[i].compilation == role.compilation && body->roles[i].index == index &&
            body->roles[i].output == output) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "%s %u has the role already", what, index);
        }
    }
    const tensor *t = &of->model->operands[(output ? of->model->outputs : of->model->inputs)[index]].t;
    if (body->role_count > 0 &&
        (t->type != body->t.type || t->scale != body->t.scale || t->zero_point != body->t.zero_point)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "roles of different types");
    }
    code = merge_sizes(&body->t, t->rank, t->sizes);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    memory_role *more = realloc(body->roles, ((size_t)body->role_count + 1) * sizeof *more);
    if (more == NULL) {
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    body->t.type = t->type;
    body->t.scale = t->scale;
    body->t.zero_point = t->zero_point;
    body->roles = more;
    body->roles[body->role_count++] = role;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc,
                                           const ANeuralNetworksCompilation *compilation, uint32_t index,
                                           float frequency)
{
    ENTER;
    LEAVE(add_role(desc, compilation, index, frequency, false));
}

int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc *desc,
                                            const ANeuralNetworksCompilation *compilation, uint32_t index,
                                            float frequency)
{
    ENTER;
    LEAVE(add_role(desc, compilation, index, frequency, true));
}

int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc *desc, uint32_t rank, const uint32_t *dimensions)
{
    ENTER;
    desc_body *body;
    TRY(find_open(desc, &body));
    if (dimensions == NULL && rank > 0) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "%u dimensions at NULL", rank);
    }
    if (rank > DOUBLE_RANK) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "%u dimensions", rank);
    }
    LEAVE(rank == 0 ? ANEURALNETWORKS_NO_ERROR : merge_sizes(&body->t, rank, dimensions));
}

int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc)
{
    ENTER;
    desc_body *body;
    TRY(find_open(desc, &body));
    if (body->role_count == 0) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "the descriptor has no roles");
    }
    body->finished = true;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory **memory)
{
    ENTER;
    desc_body *of;
    if (memory == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the memory should go is NULL");
    }
    *memory = NULL;
    TRY(double_find(desc, DOUBLE_MEMORY_DESC, &of));
    if (!of->finished) {
        MISUSE(ANEURALNETWORKS_BAD_STATE, "the descriptor is not finished");
    }
    if (!tensor_sized(&of->t)) {
        LEAVE(ANEURALNETWORKS_OP_FAILED); // not a misuse: only some drivers allocate memory for the largest sizes
    }
    memory_body *body = calloc(1, sizeof *body);
    if (body == NULL) {
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    body->size = tensor_count(&of->t) * type_width(of->t.type);
    body->bytes = malloc(body->size);
    body->roles = malloc(of->role_count * sizeof *body->roles);
    body->role_count = of->role_count;
    body->readable = body->writable = true;
    if (body->bytes == NULL || body->roles == NULL) {
        destroy_memory(body);
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    memcpy(body->roles, of->roles, of->role_count * sizeof *body->roles);
    LEAVE(give(body, memory));
}

int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst)
{
    ENTER;
    memory_body *from, *to;
    TRY(double_find(src, DOUBLE_MEMORY, &from));
    TRY(double_find(dst, DOUBLE_MEMORY, &to));
    if (from == to) {
        LEAVE(ANEURALNETWORKS_NO_ERROR);
    }
    if (from->size != to->size) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "%zu bytes onto %zu", from->size, to->size);
    }
    if (!from->filled) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "nothing was written to the memory yet");
    }
    if (!from->readable || !to->writable) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "the memory cannot be %s", from->readable ? "written" : "read");
    }
    memcpy(to->bytes, from->bytes, from->size);
    to->filled = true;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

#endif
