/* Scene files: a staging written down in JSON. docs/files.md has the format. Every mistake is told with file,
 * line, what is wrong and what to do about it.
 *
 *   sac_staging staging;
 *   if (sac_scene_file_read(&staging, "towers.json", &error) != SAC_OK) ...    // towers.json:12: unknown key
 * ...
 *
 * Index: sac_scene_file_read  sac_scene_file_parse
 */
#ifndef SAC_APPS_SCENE_FILE_H
#define SAC_APPS_SCENE_FILE_H

#include "apps/staging.h"

#define SAC_SCENE_FILE_MOST_BYTES (16u << 20)

/* Files that shapes name are looked for beside the scene file; they are opened by sac_staging_open. On
 * failure there is nothing to release. */
sac_result sac_scene_file_read(sac_staging *out_staging, const char *path, sac_error *error);
/* The same from memory; `path` is named in errors and says where to look for other files. Opens nothing. */
sac_result sac_scene_file_parse(sac_staging *out_staging, const char *text, size_t size, const char *path,
                                sac_error *error);

#endif
