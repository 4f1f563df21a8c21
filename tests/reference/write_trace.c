/* Preloaded into a process, records what it does to the files of one folder: every write, every
   change of length, every name made or removed, every sync, in order. One record each:
   kind (1 byte), length of the name (2), offset (8), length of the data (8), name, data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int trace = -1;
static char folder[4096];

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("TRACE_FILE"), *watched = getenv("TRACE_FOLDER");
    if (!file || !watched) return;
    snprintf(folder, sizeof folder, "%s", watched);
    int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    trace = real_open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void record(char kind, const char *path, uint64_t offset, const void *data, uint64_t size) {
    size_t prefix = strlen(folder);
    if (trace < 0 || strncmp(path, folder, prefix) || (path[prefix] && path[prefix] != '/')) return;
    const char *name = path[prefix] ? path + prefix + 1 : "";
    uint16_t length = strlen(name);
    char *line = malloc(19 + length + size);
    line[0] = kind;
    memcpy(line + 1, &length, 2);
    memcpy(line + 3, &offset, 8);
    memcpy(line + 11, &size, 8);
    memcpy(line + 19, name, length);
    if (size) memcpy(line + 19 + length, data, size);
    ssize_t (*real_write)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (real_write(trace, line, 19 + length + size) < 0) abort();
    free(line);
}

static void record_open_file(char kind, int file, uint64_t offset, const void *data, uint64_t size) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = trace < 0 ? -1 : readlink(link, path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    record(kind, path, offset, data, size);
}

#define REAL(type, name, ...) type (*real)(__VA_ARGS__) = dlsym(RTLD_NEXT, name)

static int traced_open(int directory, const char *path, int flags, mode_t mode) {
    REAL(int, "openat", int, const char *, int, ...);
    struct stat before;
    int made = trace >= 0 && (flags & O_CREAT) && fstatat(directory, path, &before, 0) < 0;
    int file = real(directory, path, flags, mode);
    if (file >= 0 && made) record_open_file('c', file, 0, NULL, 0);
    if (file >= 0 && !made && (flags & O_TRUNC)) record_open_file('t', file, 0, NULL, 0);
    return file;
}

#define OPEN(name)                                  \
    int name(const char *path, int flags, ...) {    \
        va_list rest;                               \
        va_start(rest, flags);                      \
        mode_t mode = va_arg(rest, mode_t);         \
        va_end(rest);                               \
        return traced_open(AT_FDCWD, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                            \
    int name(int directory, const char *path, int flags, ...) { \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        mode_t mode = va_arg(rest, mode_t);                     \
        va_end(rest);                                           \
        return traced_open(directory, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

#define PWRITE(name)                                                              \
    ssize_t name(int file, const void *data, size_t size, off64_t offset) {       \
        REAL(ssize_t, #name, int, const void *, size_t, off64_t);                 \
        ssize_t done = real(file, data, size, offset);                            \
        if (done > 0) record_open_file('w', file, offset, data, done);            \
        return done;                                                              \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int file, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    ssize_t done = real(file, data, size);
    if (trace >= 0 && done > 0 && file != trace) {
        off_t end = lseek(file, 0, SEEK_CUR);
        if (end >= done) record_open_file('w', file, end - done, data, done);
    }
    return done;
}

#define TRUNCATE(name)                                            \
    int name(int file, off64_t size) {                            \
        REAL(int, #name, int, off64_t);                           \
        int result = real(file, size);                            \
        if (!result) record_open_file('t', file, size, NULL, 0);  \
        return result;                                            \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(name)                                             \
    int name(int file) {                                       \
        REAL(int, #name, int);                                 \
        int result = real(file);                               \
        if (!result) record_open_file('s', file, 0, NULL, 0);  \
        return result;                                         \
    }
SYNC(fsync)
SYNC(fdatasync)

static const char *absolute(int directory, const char *path, char *buffer, size_t size) {
    char link[64];
    if (path[0] == '/' || directory == AT_FDCWD) return path;
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, buffer, size - 1);
    if (length <= 0) return path;
    snprintf(buffer + length, size - length, "/%s", path);
    return buffer;
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    int result = real(path);
    if (!result) record('u', path, 0, NULL, 0);
    return result;
}

int unlinkat(int directory, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    char whole[8192];
    int result = real(directory, path, flags);
    if (!result) record('u', absolute(directory, path, whole, sizeof whole), 0, NULL, 0);
    return result;
}

/* The data of a record is the name that the file had before. */
int linkat(int from, const char *old, int to, const char *path, int flags) {
    REAL(int, "linkat", int, const char *, int, const char *, int);
    char whole[8192];
    int result = real(from, old, to, path, flags);
    if (!result) record('l', absolute(to, path, whole, sizeof whole), 0, old, strlen(old));
    return result;
}
