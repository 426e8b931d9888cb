#include "apps/video.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void become_encoder(const sac_video *v, int input, uint32_t rate)
{
    char size[32], frames[16], path[4410];
    int nowhere = open("/dev/null", O_WRONLY);
    snprintf(size, sizeof size, "%ux%u", v->width, v->height);
    snprintf(frames, sizeof frames, "%u", rate);
    snprintf(path, sizeof path, "file:%s", v->path); /* a colon in a name is no protocol */
    if (nowhere < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
        dup2(nowhere, STDERR_FILENO) < 0)
        _exit(127);
    signal(SIGPIPE, SIG_DFL);
    execlp("ffmpeg", "ffmpeg", "-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt",
           "rgba", "-s", size, "-r", frames, "-i", "-", "-an", "-c:v", "libx264", "-preset", "veryfast",
           "-crf", "25", "-pix_fmt", "yuv420p", "-movflags", "+faststart", path, (char *)NULL);
    _exit(127);
}

bool sac_video_begin(sac_video *v, const char *path, uint32_t width, uint32_t height, uint32_t rate)
{
    int ends[2];
    *v = (sac_video){.width = width, .height = height, .pipe = -1, .encoder = -1};
    if ((size_t)snprintf(v->path, sizeof v->path, "%s", path) >= sizeof v->path || pipe(ends) != 0)
        return false;
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    v->encoder = fork();
    if (v->encoder == 0) {
        close(ends[1]);
        become_encoder(v, ends[0], rate);
    }
    close(ends[0]);
    v->pipe = ends[1];
    if (v->encoder > 0) return true;
    close(ends[1]);
    return false;
}

void sac_video_frame(sac_video *v, const uint8_t *rgba)
{
    size_t left = (size_t)v->width * v->height * 4;
    /* An encoder that has gone is told by the write, not by a signal. */
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    while (left && !v->failed) {
        ssize_t n = write(v->pipe, rgba, left);
        if (n > 0)
            rgba += n, left -= (size_t)n;
        else if (n == 0 || errno != EINTR)
            v->failed = true;
    }
    signal(SIGPIPE, before);
}

bool sac_video_end(sac_video *v)
{
    int status = 0;
    struct stat file;
    close(v->pipe);
    while (waitpid(v->encoder, &status, 0) < 0)
        if (errno != EINTR) return false;
    if (!v->failed && WIFEXITED(status) && WEXITSTATUS(status) == 0 && stat(v->path, &file) == 0 &&
        file.st_size > 0)
        return true;
    unlink(v->path);
    return false;
}
