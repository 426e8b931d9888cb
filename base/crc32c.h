/* CRC-32C (Castagnoli), the checksum of our files.
 *
 * Index: sac_crc32c  sac_crc32c_portable
 */
#ifndef SAC_BASE_CRC32C_H
#define SAC_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Of `size` bytes; start with `crc` 0, or with the value of what came before. Uses the CPU's own instruction
 * when it has one. */
uint32_t sac_crc32c(uint32_t crc, const void *bytes, size_t size);
/* The same by tables, on any machine. */
uint32_t sac_crc32c_portable(uint32_t crc, const void *bytes, size_t size);

#endif
