/* OpenXR with the platform parts this room uses, and what the oldest headers it is built with (1.0.20, Debian
 * 12) do not declare yet. Extensions are asked for at run time only. */
#ifndef SAC_XR_OPENXR_COMPAT_INTERNAL_H
#define SAC_XR_OPENXR_COMPAT_INTERNAL_H

#define XR_USE_GRAPHICS_API_VULKAN
#define XR_USE_TIMESPEC
#include <time.h>
#include <vulkan/vulkan.h>

#include <openxr/openxr.h>
#include <openxr/openxr_platform.h>

/* Declared in 1.0.30: a floor without a stage. */
#ifndef XR_EXT_local_floor
#define XR_EXT_local_floor 1
#define XR_EXT_LOCAL_FLOOR_EXTENSION_NAME "XR_EXT_local_floor"
#define XR_REFERENCE_SPACE_TYPE_LOCAL_FLOOR_EXT ((XrReferenceSpaceType)1000426000)
#endif

#endif
