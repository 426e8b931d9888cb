/* The glue between Assimp and a mesh: scenes as a misled reader might leave them, made from bytes. In
 * process, instrumented and fast, where fuzz_mesh goes the whole way through a child. */
#include "exercise.h"

#include <assimp/scene.h>

#include "spheretree/import_internal.h"

enum { MOST_PARTS = 4, MOST_VERTICES = 16, MOST_FACES = 12, MOST_CORNERS = 9, MOST_NODES = 8 };

typedef struct input {
    const uint8_t *at, *end;
} input;

static uint8_t byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

/* Mostly small numbers, now and then any bits. */
static float number(input *in)
{
    uint8_t b = byte(in);
    if (b != 0xff) return (float)(int8_t)b / 8;
    uint8_t bits[4] = {byte(in), byte(in), byte(in), byte(in)};
    float value;
    memcpy(&value, bits, sizeof value);
    return value;
}

typedef struct stage {
    struct aiScene scene;
    struct aiMesh parts[MOST_PARTS], *part_list[MOST_PARTS];
    struct aiVector3D vertices[MOST_PARTS][MOST_VERTICES];
    struct aiFace faces[MOST_PARTS][MOST_FACES];
    unsigned corners[MOST_PARTS][MOST_FACES][MOST_CORNERS];
    struct aiNode nodes[MOST_NODES], *children[MOST_NODES][MOST_NODES];
    unsigned node_parts[MOST_NODES][MOST_PARTS];
} stage;

static void set_part(stage *s, unsigned p, input *in)
{
    struct aiMesh *part = &s->parts[p];
    s->part_list[p] = part;
    part->mNumVertices = byte(in) % (MOST_VERTICES + 1);
    part->mVertices = byte(in) == 7 ? NULL : s->vertices[p];
    for (unsigned v = 0; v < part->mNumVertices; v++)
        s->vertices[p][v] = (struct aiVector3D){number(in), number(in), number(in)};
    part->mNumFaces = byte(in) % (MOST_FACES + 1);
    part->mFaces = byte(in) == 7 ? NULL : s->faces[p];
    for (unsigned f = 0; f < part->mNumFaces; f++) {
        struct aiFace *face = &s->faces[p][f];
        face->mNumIndices = byte(in) % (MOST_CORNERS + 1);
        face->mIndices = face->mNumIndices == 0 ? NULL : s->corners[p][f];
        for (unsigned i = 0; i < face->mNumIndices; i++) {
            uint8_t b = byte(in);
            s->corners[p][f][i] = b == 0xff ? UINT32_MAX : b % (MOST_VERTICES + 2);
        }
    }
}

/* Children have higher numbers, so there is no cycle: Assimp's own walk would not survive one either. */
static void set_node(stage *s, unsigned n, input *in)
{
    struct aiNode *node = &s->nodes[n];
    float *m = &node->mTransformation.a1;
    for (int i = 0; i < 16; i++) m[i] = i % 5 == 0;
    if (byte(in) & 1)
        for (int i = 0; i < 16; i++) m[i] = number(in);
    node->mNumMeshes = byte(in) % (MOST_PARTS + 1);
    node->mMeshes = s->node_parts[n];
    for (unsigned i = 0; i < node->mNumMeshes; i++) s->node_parts[n][i] = byte(in) % (MOST_PARTS + 1);
    uint8_t which = byte(in);
    node->mChildren = s->children[n];
    for (unsigned c = n + 1; c < MOST_NODES; c++)
        if (which >> c & 1) s->children[n][node->mNumChildren++] = byte(in) == 7 ? NULL : &s->nodes[c];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, data + size};
    stage *s = calloc(1, sizeof *s);
    s->scene.mMeshes = s->part_list;
    s->scene.mNumMeshes = byte(&in) % (MOST_PARTS + 1);
    for (unsigned p = 0; p < s->scene.mNumMeshes; p++) set_part(s, p, &in);
    s->scene.mRootNode = byte(&in) == 7 ? NULL : &s->nodes[0];
    for (unsigned n = 0; n < MOST_NODES; n++) set_node(s, n, &in);

    sac_mesh *mesh = NULL;
    sac_error error;
    sac_result result = sac_import_merge(&s->scene, "scene", &mesh, &error);
    free(s);
    if (result == SAC_OK) {
        exercise_mesh(mesh);
        sac_mesh_repair(mesh, NULL, NULL);
    } else {
        HOLDS(!mesh && error.code == result && error.message[0] && error.remedy[0]);
    }
    sac_mesh_destroy(&mesh);
    return 0;
}
