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

/* Core in 1.1, an extension before: many spaces at once. */
#if !defined(XR_KHR_locate_spaces) && !defined(XR_VERSION_1_1)
#define XR_KHR_locate_spaces 1
#define XR_TYPE_SPACES_LOCATE_INFO ((XrStructureType)1000471000)
#define XR_TYPE_SPACE_LOCATIONS ((XrStructureType)1000471001)
#define XR_TYPE_SPACE_VELOCITIES ((XrStructureType)1000471002)
typedef struct XrSpacesLocateInfo {
    XrStructureType type;
    const void *next;
    XrSpace baseSpace;
    XrTime time;
    uint32_t spaceCount;
    const XrSpace *spaces;
} XrSpacesLocateInfo;
typedef struct XrSpaceLocationData {
    XrSpaceLocationFlags locationFlags;
    XrPosef pose;
} XrSpaceLocationData;
typedef struct XrSpaceLocations {
    XrStructureType type;
    void *next;
    uint32_t locationCount;
    XrSpaceLocationData *locations;
} XrSpaceLocations;
typedef struct XrSpaceVelocityData {
    XrSpaceVelocityFlags velocityFlags;
    XrVector3f linearVelocity, angularVelocity;
} XrSpaceVelocityData;
typedef struct XrSpaceVelocities {
    XrStructureType type;
    void *next;
    uint32_t velocityCount;
    XrSpaceVelocityData *velocities;
} XrSpaceVelocities;
typedef XrResult(XRAPI_PTR *PFN_xrLocateSpaces)(XrSession session, const XrSpacesLocateInfo *locateInfo,
                                                XrSpaceLocations *spaceLocations);
#endif

/* What the loader and an API layer say to each other. Some packages of the loader leave the header out. */
#if __has_include(<openxr/openxr_loader_negotiation.h>)
#include <openxr/openxr_loader_negotiation.h>
#else
#define XR_CURRENT_LOADER_API_LAYER_VERSION 1
#define XR_LOADER_INFO_STRUCT_VERSION 1
#define XR_API_LAYER_INFO_STRUCT_VERSION 1
#define XR_API_LAYER_CREATE_INFO_STRUCT_VERSION 1
#define XR_API_LAYER_NEXT_INFO_STRUCT_VERSION 1
#define XR_API_LAYER_MAX_SETTINGS_PATH_SIZE 512
typedef enum XrLoaderInterfaceStructs {
    XR_LOADER_INTERFACE_STRUCT_LOADER_INFO = 1,
    XR_LOADER_INTERFACE_STRUCT_API_LAYER_REQUEST = 2,
    XR_LOADER_INTERFACE_STRUCT_API_LAYER_CREATE_INFO = 4,
    XR_LOADER_INTERFACE_STRUCT_API_LAYER_NEXT_INFO = 5
} XrLoaderInterfaceStructs;
typedef struct XrApiLayerCreateInfo XrApiLayerCreateInfo;
typedef XrResult(XRAPI_PTR *PFN_xrCreateApiLayerInstance)(const XrInstanceCreateInfo *info,
                                                          const XrApiLayerCreateInfo *apiLayerInfo,
                                                          XrInstance *instance);
typedef struct XrNegotiateLoaderInfo {
    XrLoaderInterfaceStructs structType;
    uint32_t structVersion;
    size_t structSize;
    uint32_t minInterfaceVersion, maxInterfaceVersion;
    XrVersion minApiVersion, maxApiVersion;
} XrNegotiateLoaderInfo;
typedef struct XrNegotiateApiLayerRequest {
    XrLoaderInterfaceStructs structType;
    uint32_t structVersion;
    size_t structSize;
    uint32_t layerInterfaceVersion;
    XrVersion layerApiVersion;
    PFN_xrGetInstanceProcAddr getInstanceProcAddr;
    PFN_xrCreateApiLayerInstance createApiLayerInstance;
} XrNegotiateApiLayerRequest;
typedef struct XrApiLayerNextInfo {
    XrLoaderInterfaceStructs structType;
    uint32_t structVersion;
    size_t structSize;
    char layerName[XR_MAX_API_LAYER_NAME_SIZE];
    PFN_xrGetInstanceProcAddr nextGetInstanceProcAddr;
    PFN_xrCreateApiLayerInstance nextCreateApiLayerInstance;
    struct XrApiLayerNextInfo *next;
} XrApiLayerNextInfo;
struct XrApiLayerCreateInfo {
    XrLoaderInterfaceStructs structType;
    uint32_t structVersion;
    size_t structSize;
    void *loaderInstance;
    char settings_file_location[XR_API_LAYER_MAX_SETTINGS_PATH_SIZE];
    XrApiLayerNextInfo *nextInfo;
};
#endif

#endif
