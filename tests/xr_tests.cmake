# Tests against a real OpenXR runtime (scripts/xr-runtime fetch), each with a service of its own. Without the runtime
# they are skipped and say so. The runtime shows 20 frames a second, so they take their time, but not the processor's.

add_test(NAME xr_scripts COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_xr_runtime ${PROJECT_SOURCE_DIR}/scripts)
set_tests_properties(xr_scripts PROPERTIES LABELS xr TIMEOUT 300)

# A service in another process and a loader of another system: nothing the thread sanitizer can follow.
if(SACCADE_SANITIZE MATCHES thread)
  return()
endif()

# What the runtime keeps is named after libraries that are gone by the time leaks are looked for; ours are counted by
# xr_life.
function(saccade_xr_program name)
  add_executable(test_xr_${name} test_xr_${name}.c)
  target_link_libraries(test_xr_${name} PRIVATE saccade_xr saccade saccade_options cmocka m ${ARGN})
  set_target_properties(test_xr_${name} PROPERTIES SACCADE_UNCOUNTED ON)
  saccade_compile_fast(test_xr_${name})
endfunction()

# saccade_xr_test(NAME PROGRAM [ARGUMENT...] [OPTIONS option of xr-test...])
function(saccade_xr_test name program)
  cmake_parse_arguments(PARSE_ARGV 2 xr "" "" "OPTIONS")
  add_test(NAME xr_${name} COMMAND ${PROJECT_SOURCE_DIR}/scripts/xr-test ${xr_OPTIONS} $<TARGET_FILE:${program}>
    ${xr_UNPARSED_ARGUMENTS})
  set_tests_properties(xr_${name} PROPERTIES LABELS xr SKIP_RETURN_CODE 77 TIMEOUT 300
    ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endfunction()

saccade_xr_program(session)
saccade_xr_test(life test_xr_session life)
saccade_xr_test(misuse test_xr_session misuse)
saccade_xr_test(variants test_xr_session variants)
saccade_xr_test(stalls test_xr_session stalls)
saccade_xr_test(service_killed test_xr_session killed)
saccade_xr_test(probe test_xr_session present)
saccade_xr_test(no_runtime test_xr_session absent OPTIONS --no-service --env SACCADE_XR_MANIFEST=/nowhere/runtime.json)
saccade_xr_test(no_service test_xr_session absent OPTIONS --no-service)
# Exact about time: not beside another that is.
set_tests_properties(xr_stalls PROPERTIES PROCESSORS 4)

# Two services beside each other.
add_test(NAME xr_two_services COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_two_services ${PROJECT_SOURCE_DIR}/scripts/xr-test
  $<TARGET_FILE:test_xr_session> life)
set_tests_properties(xr_two_services PROPERTIES LABELS xr SKIP_RETURN_CODE 77 TIMEOUT 300
  ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)

saccade_xr_program(faults)
find_package(Vulkan REQUIRED)
pkg_check_modules(OPENXR REQUIRED IMPORTED_TARGET openxr)
target_link_libraries(test_xr_faults PRIVATE PkgConfig::OPENXR Vulkan::Vulkan)
foreach(function IN ITEMS xrAcquireSwapchainImage xrAttachSessionActionSets xrBeginFrame xrBeginSession
    xrCreateActionSet xrCreateReferenceSpace xrCreateSession xrCreateSwapchain
    xrEndFrame xrGetActionStatePose xrGetSystem xrLocateSpace
    xrLocateViews xrPollEvent xrReleaseSwapchainImage xrSyncActions
    xrWaitFrame xrWaitSwapchainImage vkQueueSubmit)
  target_link_options(test_xr_faults PRIVATE LINKER:--wrap=${function})
endforeach()
foreach(test IN ITEMS every_call device_lost every_door no_headset events strange_times)
  saccade_xr_test(${test} test_xr_faults ${test})
endforeach()

saccade_xr_program(head)
foreach(test IN ITEMS head recentre hands)
  saccade_xr_test(remote_${test} test_xr_head ${test} OPTIONS --remote)
endforeach()

# Through the gaze replay layer.
saccade_xr_program(gaze)
target_link_libraries(test_xr_gaze PRIVATE PkgConfig::OPENXR Vulkan::Vulkan)
target_compile_definitions(test_xr_gaze PRIVATE SACCADE_GAZE_LAYER_FOLDER="$<TARGET_FILE_DIR:saccade_gaze_layer>")
add_dependencies(test_xr_gaze saccade_gaze_layer)
foreach(test IN ITEMS recording late faults openxr)
  saccade_xr_test(gaze_${test} test_xr_gaze ${test})
endforeach()
set_tests_properties(xr_gaze_faults PROPERTIES PROCESSORS 4)
# The program, run as a person runs it.
if(TARGET saccade_program)
  saccade_xr_program(program PkgConfig::JANSSON)
  target_include_directories(test_xr_program SYSTEM PRIVATE ${STB_INCLUDE_DIR})
  target_compile_definitions(test_xr_program PRIVATE SACCADE_PROGRAM="$<TARGET_FILE:saccade_program>"
    SACCADE_LAYER_PATH="${PROJECT_BINARY_DIR}/xr/layer" SACCADE_PICTURE="${CMAKE_CURRENT_BINARY_DIR}/xr_picture.png")
  add_dependencies(test_xr_program saccade_program saccade_gaze_layer)
  foreach(test IN ITEMS hailstorm gaze_duplicates gaze_lost layer_stalls strange_times killed layer_loss validation
      two_programs ended_by_hand refused gaze_logged)
    saccade_xr_test(program_${test} test_xr_program ${test} OPTIONS --plain)
  endforeach()
  set_tests_properties(xr_program_layer_stalls PROPERTIES PROCESSORS 4)
  saccade_xr_test(picture test_xr_program picture OPTIONS --plain --xvfb --rate 30)
endif()
