/* The baked file, byte by byte. All numbers little-endian; nothing in the file is ignored, so two different
 * files are two different trees. Private.
 *
 * The header is six cache lines; behind it the four arrays lie exactly as they do in memory, so a mapped file
 * is a tree without copying. A lane without a node is 0x7fc00000 (the quiet NaN) four times and zero
 * otherwise. */
#ifndef SAC_SPHERETREE_TREEFILE_INTERNAL_H
#define SAC_SPHERETREE_TREEFILE_INTERNAL_H

#include "spheretree/treefile.h"

#define SAC_TREEFILE_MAGIC "SACTREE\x1a"
#define SAC_TREEFILE_VERSION 1u
#define SAC_TREEFILE_BYTE_ORDER 0x01020304u
#define SAC_TREEFILE_NAN 0x7fc00000u

typedef struct sac_treefile_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order; /* reads 0x04030201 when somebody swapped the bytes */
    uint32_t header_size;
    uint32_t header_crc; /* of the header with this field zero */
    uint64_t file_size;
    uint64_t spheres_at, links_at, features_at, parents_at; /* offsets from the start of the file */
    uint32_t payload_crc;                                   /* of everything behind the header */
    uint32_t flags, method;
    uint32_t branch, depth, blocks_per_node, block_count, node_count, leaf_count;
    uint32_t level_block[SAC_TREE_MOST_DEPTH + 2]; /* zero beyond [depth + 1] */
    uint32_t level_nodes[SAC_TREE_MOST_DEPTH + 1]; /* zero beyond [depth] */
    float box[6];                                  /* low, high */
    float volume, centre[3], inertia[6];
    char name[64]; /* terminated, zero behind the end */
    uint8_t reserved[48];
} sac_treefile_header;

_Static_assert(sizeof(sac_treefile_header) == 6 * SAC_CACHE_LINE,
               "the arrays behind the header start on a cache line");
_Static_assert(offsetof(sac_treefile_header, reserved) + 48 == sizeof(sac_treefile_header),
               "no padding: nobody would check its bytes");

/* Compute both checksums anew, in place: what a forger would do, so tests can reach what lies behind them. */
void sac_treefile_seal(void *bytes, size_t size);

#endif
