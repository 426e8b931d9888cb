/* Scene files: any bytes give a staging that holds together, or an error with a line. Nothing is opened. */
#include "fuzz.h"

#include "apps/scene_file.h"

static void check_staging(const sac_staging *s)
{
    HOLDS(s->actors.count > 0 && s->actors.count <= SAC_STAGING_MOST_BODIES && s->props.count > 0);
    for (size_t i = 0; i < s->props.count; i++) {
        const sac_prop *p = &s->props.data[i];
        HOLDS(p->name[0] && memchr(p->name, 0, sizeof p->name));
        HOLDS((p->kind == SAC_PROP_HEIGHTS) == (p->heights != NULL));
        HOLDS((p->kind == SAC_PROP_BAKED || p->kind == SAC_PROP_TREE || p->kind == SAC_PROP_TERRAIN) ==
              (p->source != NULL));
    }
    for (size_t i = 0; i < s->actors.count; i++) {
        const sac_actor *a = &s->actors.data[i];
        HOLDS(a->prop < s->props.count && a->line > 0);
        HOLDS(sac_vec3_is_finite(a->def.position) && sac_vec3_is_finite(a->def.velocity) &&
              isfinite(a->def.mass));
        float square = 0;
        for (int k = 0; k < 4; k++) square += a->def.rotation[k] * a->def.rotation[k];
        HOLDS(square > 0.99f && square < 1.01f);
    }
    for (size_t i = 0; i < s->cues.count; i++)
        HOLDS(s->cues.data[i].actor < s->actors.count && s->cues.data[i].time >= 0);
    sac_viewer viewer = sac_staging_viewer(s);
    HOLDS(sac_viewer_check(&viewer, NULL) == SAC_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sac_error error = {0};
    sac_staging staging;
    const char *text = (const char *)data;
    if (sac_scene_file_parse(&staging, text, size, "fuzz/scene.json", &error) == SAC_OK) {
        check_staging(&staging);
        sac_staging_fini(&staging);
    } else {
        HOLDS(error.line > 0 && error.message[0] && error.remedy[0]);
    }
    return 0;
}
