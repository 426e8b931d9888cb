#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* tables[k][b]: what byte b does to the sum when k zero bytes follow it. Eight of them let eight bytes be
 * looked up independently instead of one after the other. */
static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t sum = b;
        for (int bit = 0; bit < 8; bit++) sum = (sum >> 1) ^ (sum & 1 ? 0x82f63b78u : 0);
        tables[0][b] = sum;
    }
    for (uint32_t b = 0; b < 256; b++)
        for (int k = 1; k < 8; k++)
            tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 0xff];
}

static uint32_t little_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t sac_crc32c_portable(uint32_t crc, const void *bytes, size_t size)
{
    pthread_once(&tables_once, fill_tables);
    const unsigned char *p = bytes;
    uint32_t sum = ~crc;
    for (; size >= 8; size -= 8, p += 8) {
        uint32_t low = sum ^ little_u32(p), high = little_u32(p + 4);
        sum = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
              tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
              tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
    }
    for (; size > 0; size--, p++) sum = (sum >> 8) ^ tables[0][(sum ^ *p) & 0xff];
    return ~sum;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_instruction(uint32_t crc, const unsigned char *p,
                                                                  size_t size)
{
    uint64_t sum = ~crc;
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        sum = _mm_crc32_u64(sum, word);
    }
    for (; size > 0; size--, p++) sum = _mm_crc32_u8((uint32_t)sum, *p);
    return ~(uint32_t)sum;
}
#endif

uint32_t sac_crc32c(uint32_t crc, const void *bytes, size_t size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return crc_instruction(crc, bytes, size);
#endif
    return sac_crc32c_portable(crc, bytes, size);
}
