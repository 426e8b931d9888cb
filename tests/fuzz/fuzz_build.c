/* Builders: tiny meshes of any shape, size and place by every method, and trees over given spheres and
 * points. Slow, a few inputs a second. */
#include "exercise.h"

enum { MOST_VERTICES = 12, MOST_TRIANGLES = 10, MOST_THINGS = 60 };

/* Builds often overflow or vanish at the ends of the range; these are whole sizes, so that shapes stay. */
static const float sizes[] = {1, 1e-3f, 1e3f, 1e-20f, 1e-38f, 1e9f, 3e11f, 1e-7f};
static const float places[] = {0, 1, -1e3f, 1e6f, 1e-30f, -5e11f, 3e4f, 1e-3f};

typedef struct input {
    const uint8_t *at, *end;
    float size, place;
} input;

static uint8_t byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

static float coordinate(input *in) { return (float)(int8_t)byte(in) / 128 * in->size + in->place; }

static void check(sac_result result, sac_tree *tree, const sac_error *error)
{
    HOLDS((result == SAC_OK) == (tree != NULL));
    if (result != SAC_OK) {
        HOLDS(error->code == result && error->message[0]);
        return;
    }
    exercise_tree(tree);
    if (tree->leaf_count <= 256) exercise_descent(tree);
    exercise_saving(tree);
    sac_tree_destroy(&tree);
}

static void build_mesh(input *in, sac_build_def *def)
{
    float vertices[MOST_VERTICES][3];
    uint32_t triangles[MOST_TRIANGLES][3], vertex_count = 3 + byte(in) % (MOST_VERTICES - 2), count = 0;
    for (uint32_t v = 0; v < vertex_count; v++)
        for (int i = 0; i < 3; i++) vertices[v][i] = coordinate(in);
    for (; in->at < in->end && count < MOST_TRIANGLES; count++)
        for (int i = 0; i < 3; i++) triangles[count][i] = byte(in) % vertex_count;
    sac_mesh *mesh;
    if (sac_mesh_create((const float(*)[3])vertices, vertex_count, (const uint32_t(*)[3])triangles, count,
                        "soup", &mesh, NULL) != SAC_OK)
        return;
    if (sac_mesh_repair(mesh, NULL, NULL) == SAC_OK) exercise_build(mesh, def);
    sac_mesh_destroy(&mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sac_method methods[] = {SAC_METHOD_OCTREE,  SAC_METHOD_GRID,   SAC_METHOD_HUBBARD,
                                         SAC_METHOD_WRAPPED, SAC_METHOD_MEDIAL, SAC_METHOD_SPHERES,
                                         SAC_METHOD_SPHERES, SAC_METHOD_FOREIGN};
    input in = {.at = data, .end = data + size};
    uint8_t choice = byte(&in);
    in.size = sizes[choice & 7], in.place = places[choice >> 3 & 7];
    uint8_t kind = byte(&in);
    sac_build_def def = sac_default_build_def();
    def.method = methods[kind & 7];
    def.depth = 1;
    def.branch = 2 + (kind >> 4 & 3);
    def.optimise = kind >> 7;
    sac_tree *tree = NULL;
    sac_error error;
    if (def.method == SAC_METHOD_SPHERES) {
        float spheres[MOST_THINGS][4];
        uint32_t count = 0;
        for (; in.at < in.end && count < MOST_THINGS; count++)
            for (int i = 0; i < 4; i++)
                spheres[count][i] = i < 3 ? coordinate(&in) : (float)byte(&in) / 255 * in.size;
        sac_result result = sac_tree_build_spheres((const float(*)[4])spheres, count, &def, &tree, &error);
        check(result, tree, &error);
    } else if (def.method == SAC_METHOD_FOREIGN) {
        float points[MOST_THINGS][3];
        uint32_t count = 0;
        for (; in.at < in.end && count < MOST_THINGS; count++)
            for (int i = 0; i < 3; i++) points[count][i] = coordinate(&in);
        def.method = SAC_METHOD_WRAPPED;
        def.depth = 1 + (kind >> 3 & 1) * 3;
        sac_result result = sac_tree_build_points((const float(*)[3])points, count, &def, &tree, &error);
        check(result, tree, &error);
    } else {
        build_mesh(&in, &def);
    }
    return 0;
}
