# cglm's headers, as the target cglm::cglm_headers (the name cglm's own CMake package uses). Distributions that build
# cglm another way ship a pkg-config file only, so both are asked, then the plain include path.
if(NOT TARGET cglm::cglm_headers)
  find_package(cglm CONFIG QUIET)
endif()
if(TARGET cglm::cglm_headers)
  set(cglm_FOUND TRUE)
  return()
endif()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_cglm QUIET cglm)
endif()
find_path(cglm_INCLUDE_DIR cglm/cglm.h HINTS ${PC_cglm_INCLUDE_DIRS} ${PC_cglm_INCLUDEDIR})
mark_as_advanced(cglm_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cglm REQUIRED_VARS cglm_INCLUDE_DIR VERSION_VAR PC_cglm_VERSION)
if(cglm_FOUND)
  add_library(cglm::cglm_headers INTERFACE IMPORTED)
  set_target_properties(cglm::cglm_headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${cglm_INCLUDE_DIR}")
endif()
