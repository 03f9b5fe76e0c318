// SPDX-License-Identifier: BSD-2-Clause
// Tests files of packed weights (packs). Packs are found by the names under which they were written, and by no other
// names. A pack from a damaged file is either correct or missing. Also tests the owner of a file, and which process
// writes it.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "ops/call/packs_checked.h"
#include "ops/call/packs_file.h"
#include "tests/unit/heap_fixture.h"

enum { PACKS = 5, PATH_BYTES = 256 };

static const size_t sizes[PACKS] = {64, 1, TAPER_PACKS_PART, 3 * TAPER_PACKS_PART + 17, 4096};
static const char weights[1 << 20] = "a model's file";
static const taper_packs_source source = {UINT64_C(0x1234), weights, sizeof weights};

typedef struct fixture {
    test_allocator memory;
    char directory[PATH_BYTES], path[PATH_BYTES + 64], part[PATH_BYTES + 96];
    taper_pack_name names[PACKS];
    unsigned char *data[PACKS];
    taper_packs_item items[PACKS];
} fixture;

static void open_fixture(fixture *f)
{
    const char *root = getenv("TMPDIR");
    test_allocator_init(&f->memory);
    (void)snprintf(f->directory, sizeof f->directory, "%s/taper-packs-XXXXXX", root != NULL ? root : "/tmp");
    assert_non_null(mkdtemp(f->directory));
    (void)snprintf(f->path, sizeof f->path, "%s/taper-0000000000001234.packs", f->directory);
    (void)snprintf(f->part, sizeof f->part, "%s.part", f->path);
    for (size_t i = 0; i < PACKS; i++) {
        memset(&f->names[i], 0, sizeof f->names[i]);
        (void)snprintf(f->names[i].layout, sizeof f->names[i].layout, "layout %zu", i / 2);
        f->names[i].numbers[3] = (int64_t)i;
        f->data[i] = malloc(sizes[i]);
        assert_non_null(f->data[i]);
        for (size_t k = 0; k < sizes[i]; k++) {
            f->data[i][k] = (unsigned char)(k * 31 + i);
        }
        f->items[i] = (taper_packs_item){&f->names[i], f->data[i], sizes[i], NULL};
    }
}

static void close_fixture(fixture *f)
{
    for (size_t i = 0; i < PACKS; i++) {
        free(f->data[i]);
    }
    (void)unlink(f->path);
    (void)unlink(f->part);
    assert_int_equal(rmdir(f->directory), 0); // fails if anything else is left in the directory
    assert_int_equal(atomic_load(&f->memory.blocks), 0);
    assert_int_equal(atomic_load(&f->memory.bytes), 0);
}

static taper_packs_file *open_file(fixture *f)
{
    taper_packs_file *file;
    assert_int_equal(taper_packs_file_open(&f->memory.allocator, f->directory, &source, &file, NULL), TAPER_OK);
    return file;
}

static void write_file(fixture *f)
{
    taper_packs_file *file = open_file(f);
    assert_null(taper_packs_file_write(file, f->items, PACKS));
    taper_packs_file_close(file);
}

// Returns the number of packs whose checksum is correct, and checks their contents.
static size_t count_good(fixture *f, taper_packs_file *file)
{
    size_t good = 0;
    for (size_t i = 0; i < PACKS; i++) {
        taper_packs_entry entry;
        const unsigned char *data = taper_packs_file_find(file, &f->names[i], sizes[i], &entry);
        const bool good_sum =
            data != NULL && taper_packs_sum(data, sizes[i], 0, taper_packs_parts(sizes[i])) == entry.sum;
        assert_true(data == NULL || good_sum || !entry.checked);
        if (good_sum) {
            assert_int_equal((uintptr_t)data % TAPER_ALIGNMENT, 0);
            assert_memory_equal(data, f->data[i], sizes[i]);
            assert_true(data[sizes[i] + TAPER_OVERREAD - 1] == 0);
            good++;
        }
    }
    return good;
}

static size_t count_in_file(fixture *f)
{
    taper_packs_file *file = open_file(f);
    const size_t good = count_good(f, file);
    taper_packs_file_close(file);
    return good;
}

static void found_again(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    assert_int_equal(count_in_file(&f), 0);
    write_file(&f);
    assert_int_equal(count_in_file(&f), PACKS);
    taper_packs_file *file = open_file(&f);
    taper_packs_entry entry;
    assert_null(taper_packs_file_find(file, &f.names[0], sizes[0] + 1, &entry));
    f.names[0].tensors[0].offset++;
    assert_null(taper_packs_file_find(file, &f.names[0], sizes[0], &entry));
    taper_packs_file_close(file);
    close_fixture(&f);
}

// Computes checksums of parts of the data, in any order and grouping.
static void sums(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    const size_t parts = taper_packs_parts(sizes[3]);
    assert_int_equal(parts, 4);
    uint64_t sum = 0;
    for (size_t i = parts; i-- > 0;) {
        sum += taper_packs_sum(f.data[3], sizes[3], i, i + 1);
    }
    assert_true(sum == taper_packs_sum(f.data[3], sizes[3], 0, parts));
    f.data[3][TAPER_PACKS_PART] ^= 1;
    assert_true(sum != taper_packs_sum(f.data[3], sizes[3], 0, parts));
    close_fixture(&f);
}

// A process that writes the file again must keep those packs of the file that it did not use.
static void unasked_stay(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    write_file(&f);
    taper_packs_file *file = open_file(&f);
    taper_packs_entry entry;
    taper_packs_item items[PACKS];
    assert_int_equal(taper_packs_file_count(file), PACKS);
    assert_non_null(taper_packs_file_find(file, &f.names[1], sizes[1], &entry));
    items[0] = f.items[1];
    assert_int_equal(taper_packs_file_unasked(file, items + 1), PACKS - 1);
    assert_null(taper_packs_file_write(file, items, PACKS));
    taper_packs_file_close(file);
    assert_int_equal(count_in_file(&f), PACKS);
    // A damaged pack must not get a new checksum.
    const int fd = open(f.path, O_RDWR);
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, 4096), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, 4096), 1);
    assert_int_equal(close(fd), 0);
    const size_t good = count_in_file(&f);
    assert_true(good < PACKS);
    file = open_file(&f);
    assert_int_equal(taper_packs_file_unasked(file, items), PACKS);
    assert_null(taper_packs_file_write(file, items, PACKS));
    taper_packs_file_close(file);
    assert_int_equal(count_in_file(&f), good);
    file = open_file(&f);
    assert_int_equal(taper_packs_file_count(file), good);
    taper_packs_file_close(file);
    close_fixture(&f);
}

// Returns the number of packs that an earlier process has found correct. This process checks all packs except the
// first; *news is true if it has checked a pack that was not checked before.
static size_t count_checked(fixture *f, bool *news)
{
    taper_packs_file *file = open_file(f);
    size_t checked = 0;
    for (size_t i = 0; i < PACKS; i++) {
        taper_packs_entry entry;
        if (taper_packs_file_find(file, &f->names[i], sizes[i], &entry) != NULL) {
            checked += entry.checked;
            if (i != 0) {
                taper_packs_file_good(file, &entry);
            }
        }
    }
    *news = taper_packs_file_take_news(file);
    if (*news) {
        assert_false(taper_packs_file_take_news(file));
        taper_packs_file_tell(file);
    }
    taper_packs_file_close(file);
    return checked;
}

static void change_byte(const char *path, off_t at)
{
    const int fd = open(path, O_RDWR);
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    assert_int_equal(close(fd), 0);
}

// If one process has checked a pack, later processes need not check it until the file changes. This does not apply to a
// file that was written just before.
static void looked_at_once(void **state)
{
    (void)state;
    fixture f;
    bool news;
    char checked[PATH_BYTES + 96];
    open_fixture(&f);
    (void)snprintf(checked, sizeof checked, "%s.checked", f.path);
    write_file(&f);
    assert_int_equal(count_checked(&f, &news), 0);
    assert_false(news); // the check is not recorded, because the clock may not have advanced since the write
    assert_int_equal(access(checked, F_OK), -1);
    sleep(4);
    assert_int_equal(count_checked(&f, &news), 0);
    assert_true(news);
    for (int time = 0; time < 2; time++) {
        assert_int_equal(count_checked(&f, &news), PACKS - 1);
        assert_false(news);
    }
    // Any change of the file with the record must make the record invalid.
    struct stat info;
    assert_int_equal(stat(checked, &info), 0);
    for (off_t at = 0; at < info.st_size; at++) {
        change_byte(checked, at);
        taper_packs_file *file = open_file(&f);
        taper_packs_entry entry;
        assert_non_null(taper_packs_file_find(file, &f.names[1], sizes[1], &entry));
        assert_false(entry.checked);
        taper_packs_file_close(file);
        change_byte(checked, at);
    }
    assert_int_equal(truncate(checked, info.st_size - 1), 0);
    assert_int_equal(count_checked(&f, &news), 0);
    assert_true(news);
    assert_int_equal(count_checked(&f, &news), PACKS - 1);
    // First the file's time is set to the future, and then to a time that differs from the recorded time.
    struct utimbuf times = {.actime = time(NULL), .modtime = time(NULL) + 100};
    assert_int_equal(utime(f.path, &times), 0);
    assert_int_equal(count_checked(&f, &news), 0);
    assert_false(news);
    times.modtime = times.actime - 100;
    assert_int_equal(utime(f.path, &times), 0); // a new time counts as a change of the file
    assert_int_equal(count_checked(&f, &news), 0);
    assert_false(news);
    sleep(4);
    assert_int_equal(count_checked(&f, &news), 0);
    assert_true(news);
    // The file is modified, so all packs must be checked again.
    change_byte(f.path, 4096);
    assert_int_equal(count_checked(&f, &news), 0);
    assert_true(count_in_file(&f) < PACKS);
    assert_int_equal(unlink(checked), 0);
    close_fixture(&f);
}

// The record that a file was checked is valid for a day while the file does not change. It is not valid if the file was
// changed immediately before the check.
static void checked_for_a_day(void **state)
{
    (void)state;
    enum { COUNT = 3, NOW = 1000000, DAY = 24 * 60 * 60 };
    static const struct {
        taper_kept_stamp file;
        size_t count;
        bool known;
    } cases[] = {
        {{7, NOW - 3, NOW}, COUNT, true},        {{7, NOW - 3, NOW + DAY - 1}, COUNT, true},
        {{7, NOW - 3, NOW + DAY}, COUNT, false}, {{7, NOW - 3, NOW - 1}, COUNT, false},
        {{8, NOW - 3, NOW}, COUNT, false},       {{7, NOW - 2, NOW}, COUNT, false},
        {{7, NOW + 1, NOW + 9}, COUNT, false},   {{7, NOW - 3, NOW}, COUNT - 1, false},
        {{7, NOW - 3, NOW}, COUNT + 1, false},   {{7, 0, INT64_MAX}, COUNT, false},
    };
    fixture f;
    open_fixture(&f);
    uint8_t good[COUNT] = {1, 0, 1};
    const taper_packs_checked said = {.file = {7, NOW - 3, NOW}, .packs = good, .count = COUNT};
    taper_packs_checked_write(&said, f.path, f.part);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        taper_packs_checked c;
        taper_packs_checked_read(&c, &f.memory.allocator, f.path, &cases[i].file, cases[i].count);
        assert_int_equal(c.known, cases[i].known);
        assert_true(!c.known || memcmp(c.packs, good, COUNT) == 0);
        assert_true(c.known || memchr(c.packs, 1, c.count) == NULL);
        taper_packs_checked_free(&c, &f.memory.allocator);
    }
    close_fixture(&f);
}

static unsigned char *read_whole(const char *path, size_t *size)
{
    struct stat info;
    const int fd = open(path, O_RDONLY);
    assert_int_equal(fstat(fd, &info), 0);
    *size = (size_t)info.st_size;
    unsigned char *bytes = malloc(*size);
    assert_int_equal(read(fd, bytes, *size), (ssize_t)*size);
    assert_int_equal(close(fd), 0);
    return bytes;
}

static void write_whole(const char *path, const unsigned char *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    assert_int_equal(close(fd), 0);
}

static void damaged(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    write_file(&f);
    size_t size;
    unsigned char *bytes = read_whole(f.path, &size);
    // Damages each byte near both ends, where the header and the index are, and some bytes between them.
    for (size_t i = 0; i < size; i += i < 128 || i + 2000 > size ? 1 : size / 300) {
        for (unsigned bit = 0; bit < 8; bit += 7) {
            bytes[i] ^= (unsigned char)(1u << bit);
            write_whole(f.path, bytes, size);
            (void)count_in_file(&f); // counts the packs, and compares the contents of each
            bytes[i] ^= (unsigned char)(1u << bit);
        }
    }
    for (size_t length = 0; length < size; length += length < 200 || length + 2000 > size ? 1 : size / 100) {
        write_whole(f.path, bytes, length);
        assert_int_equal(count_in_file(&f), 0);
    }
    write_whole(f.path, bytes, size);
    assert_int_equal(count_in_file(&f), PACKS);
    free(bytes);
    close_fixture(&f);
}

static void of_another(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    write_file(&f);
    taper_packs_source other = source;
    taper_packs_file *file;
    other.size--;
    assert_int_equal(taper_packs_file_open(&f.memory.allocator, f.directory, &other, &file, NULL), TAPER_OK);
    assert_int_equal(count_good(&f, file), 0);
    taper_packs_file_close(file);
    assert_int_equal(chmod(f.path, 0620), 0); // refused, because other users may write to the file
    assert_int_equal(count_in_file(&f), 0);
    assert_int_equal(chmod(f.path, 0644), 0);
    assert_int_equal(count_in_file(&f), PACKS);
    if (geteuid() == 0) {
        assert_int_equal(chown(f.path, 1, 1), 0);
        assert_int_equal(count_in_file(&f), 0);
        assert_int_equal(chown(f.path, 0, 0), 0);
    }
    assert_int_equal(rename(f.path, f.part), 0);
    assert_int_equal(symlink(f.part, f.path), 0); // the file is refused, because the library does not follow links
    assert_int_equal(count_in_file(&f), 0);
    assert_int_equal(unlink(f.path), 0);
    assert_int_equal(mkfifo(f.path, 0600), 0); // a pipe is refused, and opening it does not wait
    assert_int_equal(count_in_file(&f), 0);
    close_fixture(&f);
}

// Locks the temporary file as a writer does and returns its descriptor.
static int hold_part(const fixture *f)
{
    const int fd = open(f->part, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(write(fd, "half a file", 11), 11);
    return fd;
}

// While one process writes the file, no second process can write it. After the writer has ended, even by a crash,
// another process can write.
static void who_writes(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    const int held = hold_part(&f);
    write_file(&f);
    assert_int_equal(access(f.path, F_OK), -1);
    assert_int_equal(access(f.part, F_OK), 0);
    assert_int_equal(close(held), 0);
    write_file(&f);
    assert_int_equal(count_in_file(&f), PACKS);
    assert_int_equal(access(f.part, F_OK), -1);
    assert_int_equal(unlink(f.path), 0);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    const pid_t writer = fork();
    if (writer == 0) {
        (void)hold_part(&f);
        (void)!write(ready[1], "x", 1);
        for (;;) {
            (void)pause();
        }
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    write_file(&f);
    assert_int_equal(access(f.path, F_OK), -1);
    assert_int_equal(kill(writer, SIGKILL), 0);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    assert_int_equal(access(f.part, F_OK), 0);
    write_file(&f);
    assert_int_equal(count_in_file(&f), PACKS);
    assert_int_equal(access(f.part, F_OK), -1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    // Files of other users must not be changed.
    assert_int_equal(unlink(f.path), 0);
    write_whole(f.path, (const unsigned char *)"y", 1);
    assert_int_equal(symlink(f.path, f.part), 0);
    taper_packs_file *refused = open_file(&f);
    assert_non_null(taper_packs_file_write(refused, f.items, PACKS));
    assert_int_equal(unlink(f.part), 0);
    assert_int_equal(mkfifo(f.part, 0600), 0);
    assert_non_null(taper_packs_file_write(refused, f.items, PACKS));
    assert_int_equal(unlink(f.part), 0);
    taper_packs_file_close(refused);
    size_t size;
    free(read_whole(f.path, &size));
    assert_int_equal(size, 1);
    write_file(&f);
    // If a file is replaced, the new file does not change the packs of processes that have mapped the old file.
    taper_packs_file *before = open_file(&f);
    f.data[0][5]++;
    write_file(&f);
    f.data[0][5]--;
    assert_int_equal(count_good(&f, before), PACKS);
    taper_packs_file_close(before);
    // Tests what happens if the directory is removed.
    taper_packs_file *file = open_file(&f);
    assert_int_equal(unlink(f.path), 0);
    assert_int_equal(rmdir(f.directory), 0);
    assert_non_null(taper_packs_file_write(file, f.items, PACKS));
    taper_packs_file_close(file);
    assert_int_equal(mkdir(f.directory, 0700), 0);
    close_fixture(&f);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static bool is_pending(void)
{
    sigset_t pending;
    assert_int_equal(sigpending(&pending), 0);
    return sigismember(&pending, SIGXFSZ) == 1;
}

// Tries to write a file that is larger than the process's limit. No file must be left.
static void write_too_much(fixture *f)
{
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = sizes[3];
    taper_packs_file *file = open_file(f);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const char *problem = taper_packs_file_write(file, f->items, PACKS);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    taper_packs_file_close(file);
    assert_non_null(problem);
    assert_int_equal(access(f->path, F_OK), -1);
    assert_int_equal(access(f->part, F_OK), -1);
}

// If a write exceeds RLIMIT_FSIZE, the host must not receive a signal, with any handler of SIGXFSZ, and the host's
// handler must remain installed.
static void too_large(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    write_too_much(&f); // the default handler would end the process
    struct sigaction counting, before;
    memset(&counting, 0, sizeof counting);
    counting.sa_handler = count_signal;
    (void)sigemptyset(&counting.sa_mask);
    assert_int_equal(sigaction(SIGXFSZ, &counting, &before), 0);
    write_too_much(&f);
    assert_int_equal(signals, 0);
    sigset_t blocked, mask, now;
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGXFSZ);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &blocked, &mask), 0);
    write_too_much(&f);
    assert_false(is_pending());
    assert_int_equal(raise(SIGXFSZ), 0);
    write_too_much(&f);
    assert_true(is_pending());
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
    assert_int_equal(signals, 1);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
    assert_int_equal(sigismember(&now, SIGXFSZ), sigismember(&mask, SIGXFSZ));
    counting.sa_handler = SIG_IGN;
    assert_int_equal(sigaction(SIGXFSZ, &counting, NULL), 0);
    write_too_much(&f);
    assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
    taper_mark mark;
    struct rlimit limit, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    const bool set = taper_mark_set(f.part, "mark", 4, &mark);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_false(set);
    assert_int_equal(access(f.part, F_OK), -1);
    write_file(&f);
    assert_int_equal(count_in_file(&f), PACKS);
    close_fixture(&f);
}

static void without_memory(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    write_file(&f);
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        taper_packs_file *file;
        f.memory.fail_at = atomic_load(&f.memory.calls) + n;
        failed = taper_packs_file_open(&f.memory.allocator, f.directory, &source, &file, NULL) != TAPER_OK;
        if (!failed) {
            failed = count_good(&f, file) == 0;
            failed |= taper_packs_file_write(file, f.items, PACKS) != NULL;
            taper_packs_file_close(file);
        }
        f.memory.fail_at = 0;
    }
    assert_int_equal(count_in_file(&f), PACKS);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_again),       cmocka_unit_test(sums),
        cmocka_unit_test(unasked_stay),      cmocka_unit_test(looked_at_once),
        cmocka_unit_test(checked_for_a_day), cmocka_unit_test(damaged),
        cmocka_unit_test(of_another),        cmocka_unit_test(who_writes),
        cmocka_unit_test(without_memory),    cmocka_unit_test(too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
