/* Decimal numbers from text. */
#include "spheretree/sph_internal.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* value * 10^exponent; a few roundings of a double, far below half a float's last digit. */
static double scale(double value, int exponent)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    for (; exponent > 22; exponent -= 22) value *= 1e22;
    for (; exponent < -22; exponent += 22) value /= 1e22;
    return exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
}

sac_number_kind sac_number_parse(const char **at, const char *end, float *out)
{
    const char *p = *at;
    bool negative = false, digits = false;
    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';

    /* The first 17 digits count; of the others only how many there are. */
    uint64_t mantissa = 0;
    int64_t exponent = 0;
    bool behind_point = false;
    for (; p < end && (is_digit(*p) || (*p == '.' && !behind_point)); p++) {
        if (*p == '.') {
            behind_point = true;
            continue;
        }
        digits = true;
        if (mantissa < 10000000000000000u) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            exponent -= behind_point;
        } else {
            exponent += !behind_point;
        }
    }
    if (!digits) return SAC_NUMBER_NONE;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        bool down = false;
        if (q < end && (*q == '-' || *q == '+')) down = *q++ == '-';
        if (q == end || !is_digit(*q)) return SAC_NUMBER_NONE;
        int64_t written = 0;
        for (; q < end && is_digit(*q); q++)
            if (written < 1000000000) written = written * 10 + (*q - '0');
        exponent += down ? -written : written;
        p = q;
    }
    *at = p;
    /* Beyond these the answer is zero or too large whatever the digits; the loops above stay short. */
    if (exponent > 400) exponent = 400;
    if (exponent < -400) exponent = -400;
    double value = mantissa == 0 ? 0 : scale((double)mantissa, (int)exponent);
    if (value > (double)FLT_MAX) return SAC_NUMBER_TOO_LARGE;
    *out = (float)(negative ? -value : value);
    return SAC_NUMBER_GOOD;
}
