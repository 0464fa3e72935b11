// SPDX-License-Identifier: Apache-2.0
// slow: a preloaded library that slows time by SLOW for this process and those it starts.
//
//   SLOW=12 LD_PRELOAD=./libslow.so PROGRAM
//
// It stretches every clock that a program reads and every time that it waits. If the host of a virtual machine pauses the
// processors for some milliseconds, the programs see a pause SLOW times shorter. Their computing also takes 1/SLOW of the time,
// and their share of a core is computed in the time that they see. The idea is by Gupta et al., "To Infinity and Beyond:
// Time-Warped Network Emulation", NSDI 2006. All processes with the same SLOW and SLOW_SINCE agree on the time. SLOW_SINCE is the
// second since 1970 from which the date advances more slowly; the default is the start of the machine. Not stretched: waits
// inside the kernel (TCP's retransmissions, timer slack), timed rwlocks, and clocks of processor time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

typedef struct timespec Spec;
// The stretched monotonic clock equals the real one at the start of the machine.
static const int64_t monotonic_base = 0;

// The functions are looked up by name when first called, since other libraries' constructors may run before ours. Some of them
// have an older version under the same name.
#define NEXT(result, name, ...) \
    static result (*next)(__VA_ARGS__); \
    if (!next) { \
        void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"); \
        if (!found && !(found = dlsym(RTLD_NEXT, name))) abort(); \
        next = found; \
    }

static int64_t nanoseconds(const Spec *t) { return t->tv_sec * 1000000000LL + t->tv_nsec; }
static Spec spec(int64_t n) { return (Spec){n / 1000000000, n % 1000000000}; }

static int true_clock(clockid_t id, Spec *t) {
    NEXT(int, "clock_gettime", clockid_t, Spec *);
    return next(id, t);
}

static int64_t slow(void) {
    static int64_t factor;
    if (!factor) {
        const char *text = getenv("SLOW");
        factor = text && atoll(text) > 0 ? atoll(text) : 1;
    }
    return factor;
}

/// The stretched date equals the real one at this time, in nanoseconds since 1970.
static int64_t real_base(void) {
    static int64_t base;
    if (!base) {
        const char *text = getenv("SLOW_SINCE");
        long long seconds = text ? atoll(text) : 0;
        FILE *file = seconds > 0 ? 0 : fopen("/proc/stat", "re");
        char line[4096];
        while (file && fgets(line, sizeof line, file)) sscanf(line, "btime %lld", &seconds);
        if (file) fclose(file);
        base = (seconds > 0 ? seconds : 1700000000) * 1000000000LL;
    }
    return base;
}

static int is_real(clockid_t id) { return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI; }
static int64_t stretched(int64_t t, int64_t base) { return base + (t - base) / slow(); }
static int64_t true_time(int64_t t, int64_t base) { return base + (t - base) * slow(); }
static Spec shorter(const Spec *t) { return spec(nanoseconds(t) / slow()); }
/// A century or more means never, and would overflow.
static Spec longer(const Spec *t) { return t->tv_sec < 4000000000 / slow() ? spec(nanoseconds(t) * slow()) : *t; }
/// A time on either of the two clocks, which are decades apart.
static Spec instant(const Spec *t) {
    int64_t base = t->tv_sec > 1000000000 ? real_base() : monotonic_base;
    int fits = t->tv_sec < 2000000000 && t->tv_sec - base / 1000000000 < 4000000000 / slow();
    return fits ? spec(true_time(nanoseconds(t), base)) : *t;
}
static int milliseconds(int t) { return t <= 0 ? t : t > INT_MAX / slow() ? INT_MAX : (int)(t * slow()); }

// ---------------------------------------------------------------- clocks
int clock_gettime(clockid_t id, Spec *t) {
    int status = true_clock(id, t);
    if (status || id < 0 || id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID) return status;
    *t = spec(stretched(nanoseconds(t), is_real(id) ? real_base() : monotonic_base));
    return 0;
}
int gettimeofday(struct timeval *restrict t, void *restrict zone) {
    (void)zone;
    Spec s;
    clock_gettime(CLOCK_REALTIME, &s);
    *t = (struct timeval){s.tv_sec, s.tv_nsec / 1000};
    return 0;
}
time_t time(time_t *t) {
    Spec s;
    clock_gettime(CLOCK_REALTIME, &s);
    if (t) *t = s.tv_sec;
    return s.tv_sec;
}
int timespec_get(Spec *t, int base) { return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, t) ? base : 0; }

// ---------------------------------------------------------------- sleeps
int clock_nanosleep(clockid_t id, int flags, const Spec *t, Spec *left) {
    NEXT(int, "clock_nanosleep", clockid_t, int, const Spec *, Spec *);
    Spec s = flags & TIMER_ABSTIME ? instant(t) : longer(t);
    int status = next(id, flags, &s, left);
    if (status == EINTR && left && !(flags & TIMER_ABSTIME)) *left = shorter(left);
    return status;
}
int nanosleep(const Spec *t, Spec *left) {
    int status = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
    if (status) errno = status;
    return status ? -1 : 0;
}
int usleep(useconds_t t) { return nanosleep(&(Spec){t / 1000000, t % 1000000 * 1000}, 0); }
unsigned sleep(unsigned t) {
    Spec left = {0, 0};
    return nanosleep(&(Spec){t, 0}, &left) ? (unsigned)left.tv_sec : 0;
}

// ---------------------------------------------------------------- descriptors
int poll(struct pollfd *fds, nfds_t n, int t) {
    NEXT(int, "poll", struct pollfd *, nfds_t, int);
    return next(fds, n, milliseconds(t));
}
int __poll_chk(struct pollfd *fds, nfds_t n, int t, size_t size) { (void)size; return poll(fds, n, t); }
int ppoll(struct pollfd *fds, nfds_t n, const Spec *t, const sigset_t *mask) {
    NEXT(int, "ppoll", struct pollfd *, nfds_t, const Spec *, const sigset_t *);
    Spec s;
    return next(fds, n, t ? (s = longer(t), &s) : 0, mask);
}
int __ppoll_chk(struct pollfd *fds, nfds_t n, const Spec *t, const sigset_t *mask, size_t size) {
    (void)size;
    return ppoll(fds, n, t, mask);
}
int pselect(int n, fd_set *r, fd_set *w, fd_set *e, const Spec *t, const sigset_t *mask) {
    NEXT(int, "pselect", int, fd_set *, fd_set *, fd_set *, const Spec *, const sigset_t *);
    Spec s;
    return next(n, r, w, e, t ? (s = longer(t), &s) : 0, mask);
}
int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t) {
    Spec s = t ? (Spec){t->tv_sec, t->tv_usec * 1000} : (Spec){0, 0};
    return pselect(n, r, w, e, t ? &s : 0, 0);
}
int epoll_wait(int fd, struct epoll_event *events, int n, int t) {
    NEXT(int, "epoll_wait", int, struct epoll_event *, int, int);
    return next(fd, events, n, milliseconds(t));
}
int epoll_pwait2(int fd, struct epoll_event *events, int n, const Spec *t, const sigset_t *mask) {
    NEXT(int, "epoll_pwait2", int, struct epoll_event *, int, const Spec *, const sigset_t *);
    Spec s;
    return next(fd, events, n, t ? (s = longer(t), &s) : 0, mask);
}
int epoll_pwait(int fd, struct epoll_event *events, int n, int t, const sigset_t *mask) {
    NEXT(int, "epoll_pwait", int, struct epoll_event *, int, int, const sigset_t *);
    return next(fd, events, n, milliseconds(t), mask);
}
int setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
    NEXT(int, "setsockopt", int, int, int, const void *, socklen_t);
    if (level != SOL_SOCKET || (name != SO_RCVTIMEO && name != SO_SNDTIMEO) || size < sizeof(struct timeval))
        return next(fd, level, name, value, size);
    const struct timeval *t = value;
    int64_t us = (t->tv_sec * 1000000LL + t->tv_usec) * slow();
    struct timeval s = {us / 1000000, us % 1000000};
    return next(fd, level, name, &s, sizeof s);
}

// ---------------------------------------------------------------- timers
static struct itimerspec timer(int absolute, const struct itimerspec *t) {
    return (struct itimerspec){longer(&t->it_interval), absolute ? instant(&t->it_value) : longer(&t->it_value)};
}
int timerfd_settime(int fd, int flags, const struct itimerspec *t, struct itimerspec *old) {
    NEXT(int, "timerfd_settime", int, int, const struct itimerspec *, struct itimerspec *);
    struct itimerspec s = timer(flags & TFD_TIMER_ABSTIME, t);
    int status = next(fd, flags, &s, old);
    if (!status && old) *old = (struct itimerspec){shorter(&old->it_interval), shorter(&old->it_value)};
    return status;
}
int timerfd_gettime(int fd, struct itimerspec *t) {
    NEXT(int, "timerfd_gettime", int, struct itimerspec *);
    int status = next(fd, t);
    if (!status) *t = (struct itimerspec){shorter(&t->it_interval), shorter(&t->it_value)};
    return status;
}
int timer_gettime(timer_t id, struct itimerspec *t) {
    NEXT(int, "timer_gettime", timer_t, struct itimerspec *);
    int status = next(id, t);
    if (!status) *t = (struct itimerspec){shorter(&t->it_interval), shorter(&t->it_value)};
    return status;
}
static struct timeval scaled(struct timeval t, int is_longer) {
    Spec s = {t.tv_sec, t.tv_usec * 1000};
    s = is_longer ? longer(&s) : shorter(&s);
    return (struct timeval){s.tv_sec, s.tv_nsec / 1000};
}
int setitimer(__itimer_which_t which, const struct itimerval *t, struct itimerval *old) {
    NEXT(int, "setitimer", __itimer_which_t, const struct itimerval *, struct itimerval *);
    if (which != ITIMER_REAL) return next(which, t, old);
    struct itimerval s = {scaled(t->it_interval, 1), scaled(t->it_value, 1)};
    int status = next(which, &s, old);
    if (!status && old) *old = (struct itimerval){scaled(old->it_interval, 0), scaled(old->it_value, 0)};
    return status;
}
int getitimer(__itimer_which_t which, struct itimerval *t) {
    NEXT(int, "getitimer", __itimer_which_t, struct itimerval *);
    int status = next(which, t);
    if (!status && which == ITIMER_REAL) *t = (struct itimerval){scaled(t->it_interval, 0), scaled(t->it_value, 0)};
    return status;
}
unsigned alarm(unsigned seconds) {
    struct itimerval t = {{0, 0}, {seconds, 0}}, old = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &t, &old);
    return old.it_value.tv_sec + (old.it_value.tv_usec > 0);
}
int timer_settime(timer_t id, int flags, const struct itimerspec *t, struct itimerspec *old) {
    NEXT(int, "timer_settime", timer_t, int, const struct itimerspec *, struct itimerspec *);
    struct itimerspec s = timer(flags & TIMER_ABSTIME, t);
    int status = next(id, flags, &s, old);
    if (!status && old) *old = (struct itimerspec){shorter(&old->it_interval), shorter(&old->it_value)};
    return status;
}

// ---------------------------------------------------------------- threads
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const Spec *t) {
    NEXT(int, "pthread_cond_timedwait", pthread_cond_t *, pthread_mutex_t *, const Spec *);
    Spec s = instant(t);
    return next(c, m, &s);
}
int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t id, const Spec *t) {
    NEXT(int, "pthread_cond_clockwait", pthread_cond_t *, pthread_mutex_t *, clockid_t, const Spec *);
    Spec s = instant(t);
    return next(c, m, id, &s);
}
int pthread_mutex_timedlock(pthread_mutex_t *m, const Spec *t) {
    NEXT(int, "pthread_mutex_timedlock", pthread_mutex_t *, const Spec *);
    Spec s = instant(t);
    return next(m, &s);
}
int sem_timedwait(sem_t *sem, const Spec *t) {
    NEXT(int, "sem_timedwait", sem_t *, const Spec *);
    Spec s = instant(t);
    return next(sem, &s);
}
int sem_clockwait(sem_t *sem, clockid_t id, const Spec *t) {
    NEXT(int, "sem_clockwait", sem_t *, clockid_t, const Spec *);
    Spec s = instant(t);
    return next(sem, id, &s);
}
/// Futexes have no function of their own: JACK, Qt, GLib and libdispatch use syscall.
long syscall(long number, ...) {
    NEXT(long, "syscall", long, ...);
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    Spec s;
    int op = a[1] & FUTEX_CMD_MASK;
    if (number == SYS_futex && a[3] && (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET)) {
        s = op == FUTEX_WAIT ? longer((Spec *)a[3]) : instant((Spec *)a[3]);
        a[3] = (long)&s;
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// ---------------------------------------------------------------- files
// A file's times are the kernel's, so they are real times; those after SLOW_SINCE are reported in stretched time.
static void stretch_file(Spec *t) {
    int64_t n = nanoseconds(t);
    if (n > real_base()) *t = spec(stretched(n, real_base()));
}
static int told(int status, struct stat *s) {
    if (!status) stretch_file(&s->st_atim), stretch_file(&s->st_mtim), stretch_file(&s->st_ctim);
    return status;
}
int fstatat(int folder, const char *restrict path, struct stat *restrict s, int flags) {
    NEXT(int, "fstatat", int, const char *, struct stat *, int);
    return told(next(folder, path, s, flags), s);
}
int stat(const char *restrict path, struct stat *restrict s) { return fstatat(AT_FDCWD, path, s, 0); }
int lstat(const char *restrict path, struct stat *restrict s) { return fstatat(AT_FDCWD, path, s, AT_SYMLINK_NOFOLLOW); }
int fstat(int fd, struct stat *s) {
    NEXT(int, "fstat", int, struct stat *);
    return told(next(fd, s), s);
}
// On 64-bit systems these have the same structure.
int fstatat64(int folder, const char *restrict path, struct stat64 *restrict s, int flags) {
    return fstatat(folder, path, (struct stat *)s, flags);
}
int stat64(const char *restrict path, struct stat64 *restrict s) { return stat(path, (struct stat *)s); }
int lstat64(const char *restrict path, struct stat64 *restrict s) { return lstat(path, (struct stat *)s); }
int fstat64(int fd, struct stat64 *s) { return fstat(fd, (struct stat *)s); }
static void stretch_statx(struct statx_timestamp *t) {
    Spec s = {t->tv_sec, t->tv_nsec};
    stretch_file(&s);
    t->tv_sec = s.tv_sec, t->tv_nsec = s.tv_nsec;
}
int statx(int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict s) {
    NEXT(int, "statx", int, const char *, int, unsigned, struct statx *);
    int status = next(folder, path, flags, mask, s);
    if (!status) stretch_statx(&s->stx_atime), stretch_statx(&s->stx_mtime), stretch_statx(&s->stx_ctime), stretch_statx(&s->stx_btime);
    return status;
}
/// A file's new times, converted to real time.
static const Spec *true_file_times(const Spec t[2], Spec result[2]) {
    if (!t) return 0;
    for (int i = 0; i < 2; i++) {
        int is_date = t[i].tv_nsec != UTIME_NOW && t[i].tv_nsec != UTIME_OMIT;
        int64_t n = is_date ? nanoseconds(&t[i]) : 0;
        result[i] = is_date && n > real_base() && n - real_base() < 4000000000000000000LL / slow() ? spec(true_time(n, real_base())) : t[i];
    }
    return result;
}
int utimensat(int folder, const char *path, const Spec t[2], int flags) {
    NEXT(int, "utimensat", int, const char *, const Spec *, int);
    Spec result[2];
    return next(folder, path, true_file_times(t, result), flags);
}
int futimens(int fd, const Spec t[2]) {
    NEXT(int, "futimens", int, const Spec *);
    Spec result[2];
    return next(fd, true_file_times(t, result));
}
