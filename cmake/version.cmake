# version.cmake - reads the one version number from c/include/dftracer/dft.h into DFTRACER_HEADER_VERSION.
# SPDX-License-Identifier: MIT
set(header "${CMAKE_CURRENT_LIST_DIR}/../c/include/dftracer/dft.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")

set(numbers "")
foreach(part MAJOR MINOR PATCH)
  file(STRINGS "${header}" line REGEX "^#define DFT_VERSION_${part} [0-9]+$")
  string(REGEX MATCH "[0-9]+$" number "${line}")
  list(APPEND numbers "${number}")
endforeach()
string(REPLACE ";" "." DFTRACER_HEADER_VERSION "${numbers}")

file(STRINGS "${header}" line REGEX "^#define DFT_VERSION \"${DFTRACER_HEADER_VERSION}\"$")
if(NOT line)
  message(FATAL_ERROR "dft.h: DFT_VERSION and DFT_VERSION_{MAJOR,MINOR,PATCH} (${DFTRACER_HEADER_VERSION}) disagree")
endif()
