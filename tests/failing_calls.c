/* Lets one of the calls fail by which a program writes: preloaded, with FAILING_CALL="NAME NUMBER ERRNO" in the environment, where the calls of a process
 * are counted from 1. With FAILING_CALL_COUNTS=FILE each process appends how many it has made: a line "NAME COUNT" for each name.
 *
 * Counted are calls that concern regular files: what is written to a terminal or a pipe is another test's subject. Allocations count where they are of
 * 64 KiB or more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { OPEN, WRITE, SYNC, RENAME, TRUNCATE, ALLOCATE, CALLS };
static const char *const NAMES[CALLS] = {"open", "write", "sync", "rename", "truncate", "allocate"};

static _Atomic long counts[CALLS];
static enum call failing = CALLS;
static long failing_number = 0;
static int failing_errno = EIO;

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("FAILING_CALL");
    char name[16];
    if (text == NULL || sscanf(text, "%15s %ld %d", name, &failing_number, &failing_errno) != 3) return;
    for (int call = 0; call < CALLS; call++)
        if (strcmp(name, NAMES[call]) == 0) failing = (enum call)call;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAILING_CALL_COUNTS");
    if (path == NULL) return;
    char text[256];
    int length = 0;
    for (int call = 0; call < CALLS; call++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s %ld\n", NAMES[call], counts[call]);
    long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file >= 0) {
        syscall(SYS_write, file, text, length);
        syscall(SYS_close, file);
    }
}

/* Counts a call; whether it is the one that fails. */
static int fails(enum call call) {
    long number = atomic_fetch_add(&counts[call], 1) + 1;
    if (call != failing || number != failing_number) return 0;
    errno = failing_errno;
    return 1;
}

static int is_regular(int file) {
    struct stat about;
    int before = errno;
    int is = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    errno = before;
    return is;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *bytes, size_t length) {
    if (is_regular(file) && fails(WRITE)) return -1;
    return REAL(write)(file, bytes, length);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
    if (is_regular(file) && fails(WRITE)) return -1;
    return REAL(writev)(file, parts, count);
}
ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
    if (is_regular(file) && fails(WRITE)) return -1;
    return REAL(pwrite)(file, bytes, length, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
    if (is_regular(file) && fails(WRITE)) return -1;
    return REAL(pwrite64)(file, bytes, length, at);
}
int fsync(int file) { return fails(SYNC) ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return fails(SYNC) ? -1 : REAL(fdatasync)(file); }
int rename(const char *from, const char *to) { return fails(RENAME) ? -1 : REAL(rename)(from, to); }
int renameat(int a, const char *from, int b, const char *to) {
    return fails(RENAME) ? -1 : REAL(renameat)(a, from, b, to);
}
int ftruncate(int file, off_t length) { return fails(TRUNCATE) ? -1 : REAL(ftruncate)(file, length); }
int ftruncate64(int file, off64_t length) { return fails(TRUNCATE) ? -1 : REAL(ftruncate64)(file, length); }

#define OPENING(name)                                                            \
    int name(const char *path, int flags, ...) {                                 \
        mode_t mode = 0;                                                         \
        if (flags & (O_CREAT | O_TMPFILE)) {                                     \
            va_list more;                                                        \
            va_start(more, flags);                                               \
            mode = va_arg(more, mode_t);                                         \
            va_end(more);                                                        \
        }                                                                        \
        if ((flags & (O_WRONLY | O_RDWR)) != 0 && strncmp(path, "/dev/", 5) != 0 \
            && fails(OPEN)) return -1;                                           \
        return REAL(name)(path, flags, mode);                                    \
    }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name)                                                         \
    int name(int folder, const char *path, int flags, ...) {                     \
        mode_t mode = 0;                                                         \
        if (flags & (O_CREAT | O_TMPFILE)) {                                     \
            va_list more;                                                        \
            va_start(more, flags);                                               \
            mode = va_arg(more, mode_t);                                         \
            va_end(more);                                                        \
        }                                                                        \
        if ((flags & (O_WRONLY | O_RDWR)) != 0 && fails(OPEN)) return -1;        \
        return REAL(name)(folder, path, flags, mode);                            \
    }
OPENING_AT(openat)
OPENING_AT(openat64)

void *__libc_malloc(size_t);
void *__libc_realloc(void *, size_t);
void *__libc_calloc(size_t, size_t);
void *malloc(size_t size) { return size >= 65536 && fails(ALLOCATE) ? NULL : __libc_malloc(size); }
void *realloc(void *old, size_t size) {
    return size >= 65536 && fails(ALLOCATE) ? NULL : __libc_realloc(old, size);
}
void *calloc(size_t count, size_t size) {
    return count * size >= 65536 && fails(ALLOCATE) ? NULL : __libc_calloc(count, size);
}
