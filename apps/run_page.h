/* A run as something to look at: figures, pictures and charts on a page.
 *
 *   sac_run_album album;
 *   sac_run_album_init(&album, frames, 4);                       // moments to keep, spread over the run
 *   def.look = sac_run_album_look, def.user = &album;
 *   sac_run_go(&run, &staging, &def, &error);
 *   sac_run_page_figures(&page, &run, &staging, &def);
 *   sac_run_page_album(&page, &album, &staging, "out", 1200, threads, &error);
 *   sac_run_page_charts(&page, &run, &def);
 *   sac_run_album_fini(&album);
 *
 * Index: sac_run_album_init  sac_run_album_look  sac_run_album_fini  sac_run_page_figures  sac_run_page_album
 *        sac_run_page_charts
 */
#ifndef SAC_APPS_RUN_PAGE_H
#define SAC_APPS_RUN_PAGE_H

#include "apps/run.h"
#include "apps/snapshot.h"

enum { SAC_ALBUM_MOST = 8 };

typedef struct sac_run_album {
    uint64_t frames[SAC_ALBUM_MOST]; /* when */
    sac_snapshot moments[SAC_ALBUM_MOST];
    uint32_t count, taken;
    bool failed; /* out of memory */
} sac_run_album;

/* `count` moments in a run of `frames`, the first ones closer together: most happens early. */
void sac_run_album_init(sac_run_album *album, uint64_t frames, uint32_t count);
void sac_run_album_look(const sac_staging *staging, const sac_world *world, const sac_viewer *viewer,
                        uint64_t frame, void *album);
void sac_run_album_fini(sac_run_album *album);

void sac_run_page_figures(sac_page *page, const sac_run *run, const sac_run_def *def);
/* Draws the moments, saves each as PNG in `folder` and puts them on the page. */
sac_result sac_run_page_album(sac_page *page, const sac_run_album *album, const sac_staging *staging,
                              const sac_run_def *def, const char *folder, uint32_t width, uint32_t threads,
                              sac_error *error);
/* Needs the rows: sac_run_def.keep. */
sac_result sac_run_page_charts(sac_page *page, const sac_run *run, const sac_run_def *def, sac_error *error);

#endif
