/* A video, written by ffmpeg while frames are made.
 *
 *   sac_video video;
 *   if (sac_video_begin(&video, "storm.mp4", 640, 360, 30)) {
 *       sac_video_frame(&video, rgba);
 *       if (!sac_video_end(&video)) ...there is no such file then
 *   }
 *
 * Index: sac_video_begin  sac_video_frame  sac_video_end
 */
#ifndef SAC_APPS_VIDEO_H
#define SAC_APPS_VIDEO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct sac_video {
    char path[4400];
    uint32_t width, height;
    int pipe;
    pid_t encoder;
    bool failed;
} sac_video;

/* H.264 in MP4. False when no process can be started; that there is no ffmpeg shows at the end. */
bool sac_video_begin(sac_video *video, const char *path, uint32_t width, uint32_t height, uint32_t rate);
/* RGBA, rows from the top. */
void sac_video_frame(sac_video *video, const uint8_t *rgba);
/* Waits for ffmpeg. True when the file is whole; else it is taken away. */
bool sac_video_end(sac_video *video);

#endif
