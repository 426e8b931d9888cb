# The letters of text panels: a font as a texture of distances, made by a tool that is built and run on the way.
find_file(SACCADE_FONT DejaVuSans.ttf PATHS /usr/share/fonts /usr/local/share/fonts
  PATH_SUFFIXES truetype/dejavu dejavu TTF truetype dejavu-sans-fonts DOC "TrueType font of text panels")
find_path(STB_INCLUDE_DIR stb/stb_truetype.h)
if(NOT SACCADE_FONT OR NOT STB_INCLUDE_DIR)
  message(FATAL_ERROR "DejaVuSans.ttf or stb/stb_truetype.h not found: install fonts-dejavu-core and libstb-dev, "
    "set -DSACCADE_FONT=FILE.ttf, or build with -DSACCADE_XR=OFF")
endif()
add_executable(saccade_make_letters make_letters.c)
target_include_directories(saccade_make_letters SYSTEM PRIVATE ${STB_INCLUDE_DIR})
target_link_libraries(saccade_make_letters PRIVATE m)
set(letters_header ${CMAKE_CURRENT_BINARY_DIR}/letters/sac_letters.h)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/letters)
add_custom_command(OUTPUT ${letters_header}
  COMMAND saccade_make_letters ${SACCADE_FONT} ${letters_header}
  DEPENDS saccade_make_letters ${SACCADE_FONT} VERBATIM)
target_sources(saccade_xr PRIVATE ${letters_header})
target_include_directories(saccade_xr PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/letters)
