/* A display nobody looks at, for suites that need one. */
#ifndef SAC_TESTS_DISPLAY_PLAY_H
#define SAC_TESTS_DISPLAY_PLAY_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Xvfb with a screen such as "640x480x24" and a number it picks itself, ":7" into name; 0 when there is no
 * Xvfb. */
static inline pid_t start_display(const char *screen, char name[32])
{
    int ends[2];
    if (pipe(ends) != 0) return 0;
    pid_t child = fork();
    if (child == 0) {
        char number[16];
        int nowhere = open("/dev/null", O_WRONLY);
        snprintf(number, sizeof number, "%d", ends[1]);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(ends[0]);
        execlp("Xvfb", "Xvfb", "-displayfd", number, "-screen", "0", screen, "-nolisten", "tcp", "-noreset",
               (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    char number[16] = "";
    size_t got = 0;
    ssize_t more;
    while (child > 0 && got < sizeof number - 1 && !strchr(number, '\n') &&
           (more = read(ends[0], number + got, sizeof number - 1 - got)) > 0)
        got += (size_t)more;
    close(ends[0]);
    number[strcspn(number, "\n")] = 0;
    snprintf(name, 32, ":%s", number);
    if (number[0]) return child;
    if (child > 0) waitpid(child, NULL, 0);
    return 0;
}

#endif
