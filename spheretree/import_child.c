/* Assimp in a process of its own. Its readers are generous: a PLY cut off in its header keeps one busy for
 * ever, a glTF of a few bytes makes another ask for gigabytes, and some damage ends in abort(). In a child
 * with limits all of that is an error message. */
#include "spheretree/import_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "spheretree/mesh_internal.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* CPU seconds for a file of no size; real files take a fraction of a second for each of their megabytes and
 * get a whole one. Less breaks large files on slow machines, more makes people wait for a hopeless one. */
static uint32_t patience = 20;

void sac_import_set_patience(uint32_t seconds) { patience = seconds; }

/* What the child sends; the vertices and the triangles follow. */
typedef struct message {
    sac_result result;
    sac_error error;
    uint32_t vertex_count, triangle_count;
} message;

static bool send_all(int fd, const void *bytes, size_t size)
{
    for (const char *at = bytes; size > 0;) {
        ssize_t done = write(fd, at, size < (1u << 30) ? size : (1u << 30));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

static void limit(int what, rlim_t value)
{
    struct rlimit now;
    if (getrlimit(what, &now) != 0 || (now.rlim_cur != RLIM_INFINITY && now.rlim_cur <= value)) return;
    now.rlim_cur = value;
    setrlimit(what, &now);
}

/* Never returns. */
static void be_the_child(int fd, const sac_import_job *job, uint32_t seconds)
{
    /* Other threads of the caller may have held a lock of its allocator when we split off. */
    sac_set_allocator(NULL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, seconds);
#ifndef SANITIZED /* their shadow memory counts */
    /* What the caller has already, what the largest mesh needs, and a hundred times the file. */
    limit(RLIMIT_DATA, ((rlim_t)16 << 30) + (rlim_t)job->file_size * 100);
#endif
    signal(SIGXCPU, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    /* Assimp prints when it aborts. */
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    message m = {0};
    sac_mesh *mesh = NULL;
    m.result = job->work(job->context, &mesh, &m.error);
    if (m.result == SAC_OK) m.vertex_count = mesh->vertex_count, m.triangle_count = mesh->triangle_count;
    bool sent = send_all(fd, &m, sizeof m);
    if (sent && m.result == SAC_OK)
        sent = send_all(fd, mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices) &&
               send_all(fd, mesh->triangles, mesh->triangle_count * sizeof *mesh->triangles);
    _exit(sent ? 0 : 1);
}

typedef struct child {
    pid_t pid;
    int fd;
    bool ended; /* and `status` says how */
    int status;
    uint64_t deadline_ns;
} child;

static void look_after(child *c, int options)
{
    if (c->ended) return;
    pid_t found;
    do found = waitpid(c->pid, &c->status, options);
    while (found < 0 && errno == EINTR);
    if (found == 0) return;
    /* A caller that ignores its children lets the system take the status away: it just ended. */
    if (found < 0) c->status = 0;
    c->ended = true;
}

/* Exactly `size` bytes; false when the child ended, or its time did, before it sent them. The end of the pipe
 * alone says nothing: another thread's child may hold it open too. */
static bool receive_all(child *c, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        struct pollfd wait = {.fd = c->fd, .events = POLLIN};
        bool was_ended = c->ended;
        int ready = poll(&wait, 1, was_ended ? 0 : 100);
        if (ready < 0 && errno != EINTR) return false;
        if (ready > 0) {
            ssize_t got = read(c->fd, at, size < (1u << 30) ? size : (1u << 30));
            if (got == 0) return false;
            if (got < 0 && errno != EINTR) return false;
            if (got > 0) at += got, size -= (size_t)got;
        } else if (was_ended || sac_time_now_ns() > c->deadline_ns) {
            return false;
        } else {
            look_after(c, WNOHANG);
        }
    }
    return true;
}

/* The mesh as received: a child that was led astray may send anything. */
static sac_result receive_mesh(child *c, const message *m, const char *name, sac_mesh **out_mesh,
                               sac_error *error)
{
    sac_mesh *mesh;
    sac_result result = sac_mesh_allocate(m->vertex_count, m->triangle_count, name, &mesh, error);
    if (result != SAC_OK) return result;
    if (!receive_all(c, mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices) ||
        !receive_all(c, mesh->triangles, mesh->triangle_count * sizeof *mesh->triangles))
        result = sac_error_set(error, SAC_ERROR_CORRUPT, SAC_IMPORT_REMEDY, "reading the file broke off");
    if (result == SAC_OK) result = sac_mesh_check(mesh, error);
    if (result == SAC_OK)
        *out_mesh = mesh;
    else
        sac_mesh_destroy(&mesh);
    return result;
}

static sac_result explain(const child *c, bool late, sac_error *error)
{
    int number = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
    if (late || number == SIGXCPU)
        return sac_error_set(error, SAC_ERROR_CORRUPT, SAC_IMPORT_REMEDY,
                             "reading the file does not come to an end; it is probably cut off");
    return sac_error_set(error, SAC_ERROR_CORRUPT, SAC_IMPORT_REMEDY,
                         "the file is damaged in a way that stopped its reader (signal %d)", number);
}

static bool start(child *c, const sac_import_job *job, uint32_t seconds)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    int ends[2];
    if (pipe(ends) != 0) return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pthread_mutex_lock(&one_at_a_time);
    c->pid = fork();
    if (c->pid == 0) {
        close(ends[0]);
        be_the_child(ends[1], job, seconds);
    }
    pthread_mutex_unlock(&one_at_a_time);
    int reason = errno;
    close(ends[1]);
    c->fd = ends[0];
    if (c->pid > 0) return true;
    close(ends[0]);
    errno = reason;
    return false;
}

sac_result sac_import_guarded(const sac_import_job *job, const char *name, sac_mesh **out_mesh,
                              sac_error *error)
{
    uint64_t megabytes = job->file_size >> 20;
    uint32_t seconds = patience + (megabytes < 1000000 ? (uint32_t)megabytes : 1000000);
    /* Wall time is for a child that waits for something; a busy machine must not reach it. */
    child c = {.deadline_ns = sac_time_now_ns() + (uint64_t)seconds * 10 * 1000000000u};
    if (!start(&c, job, seconds))
        return sac_error_set(error, SAC_ERROR_IO, "close something and try again",
                             "cannot start a process to read the file: %s", strerror(errno));
    message m;
    bool heard = receive_all(&c, &m, sizeof m);
    sac_result result = SAC_OK;
    if (heard && m.result == SAC_OK)
        result = receive_mesh(&c, &m, name, out_mesh, error);
    else if (heard && error)
        *error = m.error;
    if (heard && m.result != SAC_OK) result = m.result;
    close(c.fd);
    bool late = !heard && !c.ended && sac_time_now_ns() > c.deadline_ns;
    if (late) kill(c.pid, SIGKILL);
    look_after(&c, 0);
    return heard ? result : explain(&c, late, error);
}
