# What another project links against: library, headers, CMake package, pkg-config file. Everything is found relative
# to where it lies, so an install tree can be moved.
include(CMakePackageConfigHelpers)
set(SACCADE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/saccade)

install(TARGETS saccade EXPORT saccade-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT saccade-targets NAMESPACE saccade:: DESTINATION ${SACCADE_CMAKE_DIR})

# Rooms keep their folders, because public headers include each other relatively. A header that is private to its room
# says so in its name.
foreach(room IN ITEMS base spheretree deform scheduler response runtime)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/saccade
    FILES_MATCHING PATTERN "*.h" PATTERN "*_internal.h" EXCLUDE)
endforeach()

if(TARGET saccade_import)
  set_target_properties(saccade_import PROPERTIES EXPORT_NAME import)
  set_target_properties(saccade_import PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
  install(TARGETS saccade_import EXPORT saccade-import-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT saccade-import-targets NAMESPACE saccade:: DESTINATION ${SACCADE_CMAKE_DIR})
endif()
if(TARGET saccade_program)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR}
    OUTPUT_VARIABLE to_libraries)
  set_target_properties(saccade_program PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS saccade_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/saccade-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/saccade-config.cmake INSTALL_DESTINATION ${SACCADE_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/saccade-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/cmake/saccade-config.cmake
  ${PROJECT_BINARY_DIR}/cmake/saccade-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/Findcglm.cmake
  DESTINATION ${SACCADE_CMAKE_DIR})

# The prefix is where the .pc file lies minus its own folder, unless the packager asked for absolute folders.
set(SACCADE_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(SACCADE_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(SACCADE_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
else()
  file(RELATIVE_PATH up "/prefix/${SACCADE_PC_DIR}" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(SACCADE_PC_PREFIX "\${pcfiledir}/${up}")
  set(SACCADE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(SACCADE_PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(SACCADE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/saccade.pc.in ${PROJECT_BINARY_DIR}/cmake/saccade.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/saccade.pc DESTINATION ${SACCADE_PC_DIR})
if(TARGET saccade_import)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/saccade-import.pc.in ${PROJECT_BINARY_DIR}/cmake/saccade-import.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/saccade-import.pc DESTINATION ${SACCADE_PC_DIR})
endif()
