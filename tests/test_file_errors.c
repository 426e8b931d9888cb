/* A file that cannot be read or written is a failure for callers that do not ask for its text as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/gaze_trace.h"
#include "apps/shape.h"
#include "apps/whole_file.h"

#define NOWHERE "/proc/no-such-folder/file"

static void a_file_of(char *out_path, size_t size, const char *text)
{
    snprintf(out_path, size, "file_errors_%ld.txt", (long)getpid());
    assert_int_equal(sac_whole_file_write(out_path, text, strlen(text), NULL), SAC_OK);
}

static void what_cannot_be_written(void **state)
{
    (void)state;
    static char long_path[5000];
    memset(long_path, 'a', sizeof long_path - 1);
    for (int asked = 0; asked < 2; asked++) {
        sac_error storage, *error = asked ? &storage : NULL;
        assert_int_equal(sac_whole_file_write(NOWHERE, "x", 1, error), SAC_ERROR_IO);
        assert_int_equal(sac_whole_file_write("/proc", "x", 1, error), SAC_ERROR_IO);
        assert_int_equal(sac_whole_file_write(long_path, "x", 1, error), SAC_ERROR_ARGUMENT);
        assert_int_equal(sac_folder_create("/proc/no-such-folder", error), SAC_ERROR_IO);
        assert_int_equal(sac_folder_create("/dev/null", error), SAC_ERROR_IO);
        assert_int_equal(sac_folder_create("", error), SAC_ERROR_ARGUMENT);
        if (asked) assert_int_equal(storage.code, SAC_ERROR_ARGUMENT);
    }
}

/* Nothing but a plain file is replaced: a device, a pipe or a link stays what it is. */
static void what_is_no_plain_file_stays(void **state)
{
    (void)state;
    char pipe_path[64], target[64], link_path[64], text[16] = "";
    struct stat status;
    snprintf(pipe_path, sizeof pipe_path, "file_errors_%ld.pipe", (long)getpid());
    snprintf(target, sizeof target, "file_errors_%ld.target", (long)getpid());
    snprintf(link_path, sizeof link_path, "file_errors_%ld.link", (long)getpid());
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    int reader = open(pipe_path, O_RDWR | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(sac_whole_file_write(pipe_path, "piped", 5, NULL), SAC_OK);
    assert_int_equal(lstat(pipe_path, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(read(reader, text, sizeof text), 5);
    assert_string_equal(text, "piped");
    close(reader);
    assert_int_equal(sac_whole_file_write(target, "old", 3, NULL), SAC_OK);
    assert_int_equal(symlink(target, link_path), 0);
    assert_int_equal(sac_whole_file_write(link_path, "newer", 5, NULL), SAC_OK);
    assert_int_equal(lstat(link_path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat(target, &status), 0);
    assert_int_equal(status.st_size, 5);
    remove(pipe_path), remove(link_path), remove(target);
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        sac_result result;
    } spheres[] = {{"", SAC_ERROR_EMPTY}, {"1 2 3\n", SAC_ERROR_FORMAT}, {"0 0 0 -1\n", SAC_ERROR_FORMAT}};
    for (int asked = 0; asked < 2; asked++) {
        sac_error storage, *error = asked ? &storage : NULL;
        float(*list)[4];
        uint32_t count;
        char path[64];
        assert_int_equal(sac_spheres_read(NOWHERE, &list, &count, error), SAC_ERROR_IO);
        assert_int_equal(sac_spheres_read("/", &list, &count, error), SAC_ERROR_IO);
        for (size_t i = 0; i < sizeof spheres / sizeof *spheres; i++) {
            a_file_of(path, sizeof path, spheres[i].text);
            assert_int_equal(sac_spheres_read(path, &list, &count, error), spheres[i].result);
            assert_null(list);
            if (asked) assert_string_equal(storage.file, path);
            remove(path);
        }
        sac_shape shape;
        assert_int_equal(sac_shape_open("/", 0, false, &shape, error), SAC_ERROR_IO);
        assert_int_equal(sac_shape_open(NOWHERE, 0, false, &shape, error), SAC_ERROR_IO);
        sac_gaze_trace trace;
        assert_int_not_equal(sac_gaze_trace_open(&trace, NOWHERE, error), SAC_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_written),
        cmocka_unit_test(what_is_no_plain_file_stays),
        cmocka_unit_test(what_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
