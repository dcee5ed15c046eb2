# compression.cmake - chooses the backend that makes gzip members: c/codec/gzip_<backend>.c.
#
# Sets DFTRACER_BACKENDS (those found, the fastest first), DFTRACER_BACKEND (the one chosen: isal, libdeflate or zlib),
# DFTRACER_GZIP_SOURCES (its files) and DFTRACER_BACKEND_REASON for the summary; makes a target dftracer_gzip_<backend> for
# each found, and dftracer_compression for the one chosen. zlib is linked in any case: reading back needs it. ISA-L is loaded
# when it is needed, so only the reader is linked to it, except with DFTRACER_BUNDLE.
# SPDX-License-Identifier: MIT
set(DFTRACER_BACKENDS "")

# find_backend(<backend> <header> <library>)
function(find_backend backend header library)
  string(TOUPPER ${backend} prefix)
  find_path(${prefix}_INCLUDE_DIR ${header})
  find_library(${prefix}_LIBRARY ${library})
  mark_as_advanced(${prefix}_INCLUDE_DIR ${prefix}_LIBRARY)
  if(${prefix}_INCLUDE_DIR AND ${prefix}_LIBRARY)
    add_library(dftracer_gzip_${backend} INTERFACE)
    target_include_directories(dftracer_gzip_${backend} SYSTEM INTERFACE "${${prefix}_INCLUDE_DIR}")
    if(backend STREQUAL "isal" AND DFTRACER_BUNDLE)
      target_compile_definitions(dftracer_gzip_isal INTERFACE DFT__LINKED_ISAL)
    endif()
    if(backend STREQUAL "isal" AND NOT DFTRACER_BUNDLE)
      target_link_libraries(dftracer_gzip_isal INTERFACE Threads::Threads ${CMAKE_DL_LIBS} ZLIB::ZLIB)
    else()
      target_link_libraries(dftracer_gzip_${backend} INTERFACE "${${prefix}_LIBRARY}" ZLIB::ZLIB)
    endif()
    set(DFTRACER_BACKENDS ${DFTRACER_BACKENDS} ${backend} PARENT_SCOPE)
  endif()
endfunction()

find_backend(isal isa-l/igzip_lib.h isal)
find_backend(libdeflate libdeflate.h deflate)
add_library(dftracer_gzip_zlib INTERFACE)
target_link_libraries(dftracer_gzip_zlib INTERFACE ZLIB::ZLIB)
list(APPEND DFTRACER_BACKENDS zlib)

if(DFTRACER_COMPRESSION STREQUAL "auto")
  list(GET DFTRACER_BACKENDS 0 DFTRACER_BACKEND)
  list(JOIN DFTRACER_BACKENDS ", " names)
  set(DFTRACER_BACKEND_REASON "auto: the fastest of those found (${names})")
elseif(DFTRACER_COMPRESSION IN_LIST DFTRACER_BACKENDS)
  set(DFTRACER_BACKEND ${DFTRACER_COMPRESSION})
  set(DFTRACER_BACKEND_REASON "asked for with DFTRACER_COMPRESSION")
elseif(DFTRACER_COMPRESSION MATCHES "^(isal|libdeflate)$")
  message(FATAL_ERROR "DFTRACER_COMPRESSION=${DFTRACER_COMPRESSION}: its header or library was not found")
else()
  message(FATAL_ERROR "DFTRACER_COMPRESSION=${DFTRACER_COMPRESSION}: must be auto, zlib, isal or libdeflate")
endif()

add_library(dftracer_compression INTERFACE)
target_link_libraries(dftracer_compression INTERFACE dftracer_gzip_${DFTRACER_BACKEND})

set(sources "${CMAKE_CURRENT_LIST_DIR}/../c/codec")
cmake_path(NORMAL_PATH sources)
set(DFTRACER_GZIP_SOURCES "${sources}/gzip_${DFTRACER_BACKEND}.c" "${sources}/deflate.c")
