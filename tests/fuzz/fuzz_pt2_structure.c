// SPDX-License-Identifier: BSD-2-Clause
// Makes damaged .pt2 files from valid ones (pt2_mutate.h) and tests the public functions with them (pt2_check.h).
//   fuzz_pt2_structure [-k] [-t SECONDS] [-w FILE] SEED COUNT SAMPLE…   tests the files of COUNT seeds
//   fuzz_pt2_structure [-k] -f FILE…                                    tests unmodified files
// A sample is a .pt2 file, or a folder of .pt2 files. SEED is a number, or "sample" for the seed of the test run. -k
// continues after a failure, -t ends after that many seconds, -w writes the file of the first seed. The work is done in
// a child process, so that the seed is reported even after a crash.
#define _DEFAULT_SOURCE // needed for MAP_ANONYMOUS
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/pt2_program.h"
#include "tests/fuzz/pt2_check.h"
#include "tests/fuzz/pt2_mutate.h"
#include "tests/sample.h"

enum { MOST_SAMPLES = 256, HANG = 60 };

// ---- sample files

static bytes read_file(const char *path)
{
    bytes b = {.data = NULL};
    char part[4096];
    FILE *in = fopen(path, "rb");
    for (size_t n; in != NULL && (n = fread(part, 1, sizeof part, in)) != 0;) {
        bytes_add(&b, part, n);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return b;
}

// Adds the shapes of a program's tensors, read by the library's own reader. A symbolic size is 4.
static void shapes_of_program(const taper_pt2_program *p, pt2_shapes *to)
{
    for (size_t i = 0; i < p->input_count && to->count < MADE_MOST_INPUTS; i++) {
        const taper_pt2_argument *a = &p->inputs[i].argument;
        const taper_pt2_meta *meta = a->kind == TAPER_PT2_VALUE ? p->graph->values[a->as.value].meta : NULL;
        if (p->inputs[i].kind != TAPER_PT2_INPUT_USER || meta == NULL || meta->rank > 4) {
            continue;
        }
        pt2_shape *s = &to->items[to->count++];
        *s = (pt2_shape){.dtype = meta->dtype == TAPER_F32 || meta->dtype < 0 ? TAPER_F32 : (taper_dtype)meta->dtype,
                         .rank = meta->rank};
        for (size_t d = 0; d < meta->rank; d++) {
            s->sizes[d] = meta->sizes[d].expression != NULL ? 4 : meta->sizes[d].as.i;
        }
    }
}

static void find_shapes(const bytes *file, pt2_shapes *to)
{
    taper_types *types;
    taper_blob *blob;
    taper_module module;
    taper_pt2_program program = {.major = 0};
    *to = (pt2_shapes){.count = 0};
    need(taper_types_create(&taper_allocator_system, &types, NULL));
    need(taper_blob_from_memory(&taper_allocator_system, file->data, file->size, NULL, NULL, &blob, NULL));
    need(taper_module_init(&taper_allocator_system, types, &module, NULL));
    module.blob = &blob->head;
    taper_obj_retain(module.blob);
    if (taper_pt2_read(blob, &module, &program, NULL) == TAPER_OK) {
        shapes_of_program(&program, to);
    }
    taper_pt2_release(&program);
    taper_module_free(&module);
    taper_obj_release(&blob->head);
    taper_types_release(types);
}

typedef struct samples {
    char *paths[MOST_SAMPLES];
    pt2_sample *items;
    pt2_shapes *shapes;
    size_t count;
} samples;

static void add_path(samples *s, const char *folder, const char *name)
{
    char path[4096];
    const size_t length = strlen(name);
    if (s->count < MOST_SAMPLES && length > 4 && strcmp(name + length - 4, ".pt2") == 0) {
        (void)snprintf(path, sizeof path, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
        s->paths[s->count++] = strdup(path);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Lists files, and the files of folders sorted by name, so that a seed means the same on all machines.
static void gather_samples(samples *s, char *const *given, int count, bool as_they_are)
{
    for (int i = 0; i < count; i++) {
        const size_t first = s->count;
        DIR *folder = opendir(given[i]);
        if (folder == NULL) {
            add_path(s, "", given[i]);
            continue;
        }
        for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
            add_path(s, given[i], entry->d_name);
        }
        (void)closedir(folder);
        qsort(&s->paths[first], s->count - first, sizeof s->paths[0], by_name);
    }
    s->items = calloc(s->count + 1, sizeof *s->items);
    s->shapes = calloc(s->count + 1, sizeof *s->shapes);
    for (size_t i = 0; i < s->count && s->items != NULL && s->shapes != NULL; i++) {
        bytes file = read_file(s->paths[i]);
        if (!as_they_are && !pt2_sample_read(file.data, file.size, &s->items[i])) {
            (void)fprintf(stderr, "%s cannot be read\n", s->paths[i]);
            exit(2);
        }
        find_shapes(&file, &s->shapes[i]);
        bytes_free(&file);
    }
}

static void free_samples(samples *s)
{
    for (size_t i = 0; i < s->count; i++) {
        pt2_sample_free(&s->items[i]);
        free(s->paths[i]);
    }
    free(s->items);
    free(s->shapes);
}

// ---- the child process and its parent

typedef struct plan {
    uint64_t seed;
    size_t count;
    time_t ends; // time at which to stop; 0 to stop when all files are done
    bool as_they_are, keep_on;
} plan;

static size_t sample_of(const samples *s, const plan *p, size_t number)
{
    return p->as_they_are ? number : pt2_mutated_sample(s->count, p->seed + number);
}

static bool goes_on(const plan *p, const pt2_counts *progress)
{
    return progress->done < p->count && (p->ends == 0 || time(NULL) < p->ends);
}

static void check_all(const samples *s, const plan *p, pt2_counts *progress)
{
    while (goes_on(p, progress)) {
        const size_t sample = sample_of(s, p, progress->done);
        bytes file =
            p->as_they_are ? read_file(s->paths[sample]) : pt2_mutate(s->items, s->count, p->seed + progress->done);
        (void)alarm(HANG);
        pt2_check_file(&file, &s->shapes[sample], p->as_they_are ? PT2_CHECK_ALL : p->seed + progress->done, progress);
        bytes_free(&file);
        progress->done++;
    }
    (void)alarm(0);
}

// Prints which file failed. If number is p->count, all files are done, but the child process had not freed all memory.
static void say_failed(const samples *s, const plan *p, size_t number, int status)
{
    const bool file = number < p->count;
    (void)fprintf(stderr, "%s %llu (%s) failed: %s %d\n", file ? "seed" : "the end of seed",
                  (unsigned long long)p->seed + number, file ? s->paths[sample_of(s, p, number)] : "all files",
                  WIFSIGNALED(status) ? "signal" : "status",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static int supervise(const samples *s, const plan *p)
{
    pt2_counts *progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t failures = 0;
    if (progress == MAP_FAILED) {
        return 2;
    }
    while (goes_on(p, progress) && (failures == 0 || p->keep_on)) {
        const pid_t child = fork();
        int status = 0;
        if (child == 0) {
            check_all(s, p, progress);
            return 0; // frees everything, so that leaks are detected
        }
        if (child < 0 || waitpid(child, &status, 0) != child) {
            return 2;
        }
        if (status != 0) {
            say_failed(s, p, progress->done, status);
            progress->done++;
            failures++;
        }
    }
    (void)printf("%zu files from seed %llu: %zu loads, %zu runs, %zu saved, %zu quantized, %zu failures\n",
                 progress->done, (unsigned long long)p->seed, progress->loaded, progress->ran, progress->saved,
                 progress->quantized, failures);
    (void)munmap(progress, sizeof *progress);
    return failures != 0;
}

static int write_file(const samples *s, uint64_t seed, const char *path)
{
    bytes file = pt2_mutate(s->items, s->count, seed);
    FILE *out = fopen(path, "wb");
    const bool good = out != NULL && fwrite(file.data, 1, file.size, out) == file.size;
    bytes_free(&file);
    return out != NULL && fclose(out) == 0 && good ? 0 : 2;
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: fuzz_pt2_structure [-k] [-t SECONDS] [-w FILE] SEED COUNT SAMPLE...\n"
                          "       fuzz_pt2_structure [-k] -f FILE...\n");
    return 2;
}

int main(int argc, char **argv)
{
    samples s = {.count = 0};
    plan p = {.seed = 0};
    const char *path = NULL;
    int option;
    while ((option = getopt(argc, argv, "fkt:w:")) != -1) {
        if (option == '?') {
            return usage();
        }
        p.keep_on |= option == 'k';
        p.as_they_are |= option == 'f';
        p.ends = option == 't' ? time(NULL) + (time_t)strtoul(optarg, NULL, 10) : p.ends;
        path = option == 'w' ? optarg : path;
    }
    char **given = argv + optind;
    int left = argc - optind;
    if (!p.as_they_are && left >= 3) {
        p.seed = strcmp(given[0], "sample") == 0 ? (uint64_t)sample_seed() * 1000 : strtoull(given[0], NULL, 10);
        p.count = (size_t)strtoull(given[1], NULL, 10);
        given += 2;
        left -= 2;
    } else if (!p.as_they_are || left < 1) {
        return usage();
    }
    gather_samples(&s, given, left, p.as_they_are);
    p.count = p.as_they_are ? s.count : p.count;
    int result = s.count == 0 ? 2 : path != NULL ? write_file(&s, p.seed, path) : 0;
    result = result == 0 ? supervise(&s, &p) : result;
    free_samples(&s);
    return result;
}
