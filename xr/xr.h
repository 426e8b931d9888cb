/* The door of xr/: the headset, the window and the picture, around the world of runtime/.
 *
 *   drawing.h      what there is to draw: gallery, instances, lines, balls, panels
 *   session.h      an OpenXR session: head, gaze, hands in; both eyes out
 *   window.h       the same in a desktop window
 *   offscreen.h    the same into memory, for pictures and videos
 *   frame_time.h   missed periods, the slice for physics, fixed steps against display time
 *   gaze_source.h  where gaze comes from: headset, recording, script, mouse, head
 *   hands.h        grab, throw, poke; hands that stop at walls
 *   insight.h      the scheduler made visible
 *
 * The room needs Vulkan, OpenXR and GLFW; nothing of them shows here.
 */
#ifndef SAC_XR_XR_H
#define SAC_XR_XR_H

#include "drawing.h"
#include "frame_time.h"
#include "gaze_source.h"
#include "hands.h"
#include "insight.h"
#include "offscreen.h"
#include "session.h"
#include "window.h"

#endif
