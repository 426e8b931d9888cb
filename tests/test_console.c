/* What the program shows while it works. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "apps/console.h"

static uint32_t characters(const char *text)
{
    uint32_t count = 0;
    for (size_t n; *text; text += n, count++) {
        n = sac_text_character(text);
        assert_true(n > 0);
    }
    return count;
}

/* A line that wraps stays on the screen for ever: whatever is being done, on whatever terminal. */
static void the_bar_fits_its_terminal(void **state)
{
    (void)state;
    static const char *const doing[] = {"", "drawing", "round-robin, the same 1000 bodies for all",
                                        "running äöü äöü äöü a scene of a long name"};
    static const float done[] = {-1, 0, 0.4f, 0.999f, 1, 7, NAN};
    char bar[SAC_BAR_BYTES];
    for (size_t i = 0; i < sizeof doing / sizeof *doing; i++)
        for (size_t d = 0; d < sizeof done / sizeof *done; d++)
            for (uint32_t columns = 1; columns < 300; columns++) {
                sac_console_bar(bar, doing[i], done[d], columns % 7 ? 12.3 : 123456.7, columns);
                assert_true(strlen(bar) < sizeof bar);
                assert_true(characters(bar) < columns);
                if (columns >= 24) assert_non_null(strstr(bar, " %"));
                if (columns >= 100) assert_non_null(strstr(bar, doing[i]));
            }
    assert_string_equal(sac_console_bar(bar, "drawing", 0.5f, 2, 29), "drawing ████░░░  50 %  2.0 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bar_fits_its_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
