# Rooms include each other only as the floor plan allows; and the check itself notices when they do not.
add_test(NAME includes COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_includes ${PROJECT_SOURCE_DIR})
add_test(NAME includes_selftest COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_includes_selftest)
add_test(NAME readme COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_readme)
set_tests_properties(includes includes_selftest readme PROPERTIES LABELS tree)

# The rest looks at what is shipped, which no sanitizer build is.
if(SACCADE_INSTALL AND NOT SACCADE_SANITIZE)
  foreach(way IN ITEMS install cmake pkgconfig headers)
    add_test(NAME consumer_${way} COMMAND ${CMAKE_COMMAND} -DWAY=${way} -DBUILD=${PROJECT_BINARY_DIR}
      -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/consumer -DWORK=${CMAKE_CURRENT_BINARY_DIR}/consumer
      -DCC=${CMAKE_C_COMPILER} -DLIBDIR=${CMAKE_INSTALL_LIBDIR} -DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}
      -DIMPORT=$<TARGET_EXISTS:saccade_import> -DXR=$<TARGET_EXISTS:saccade_xr>
      -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer/build_and_run.cmake)
    set_tests_properties(consumer_${way} PROPERTIES LABELS install)
  endforeach()
  set_tests_properties(consumer_install PROPERTIES FIXTURES_SETUP install_tree)
  set_tests_properties(consumer_cmake consumer_pkgconfig consumer_headers PROPERTIES FIXTURES_REQUIRED install_tree)
  add_test(NAME symbols COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_symbols ${CMAKE_NM} $<TARGET_FILE:saccade>)
  set_tests_properties(symbols PROPERTIES LABELS install)
endif()
