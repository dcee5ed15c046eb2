# dftracerFortran.cmake - the component fortran of find_package(dftracer): the target dftracer::fortran.
#
# Module files are good for one compiler and version. Those of the compiler that dftracer was built with are installed; for
# any other one the module is built from its source, as a part of the project that asks. Also with options that
# change the kinds of numbers, and with DFTRACER_FORTRAN_FROM_SOURCE.
# SPDX-License-Identifier: MIT

# The folder of this compiler: GNU-12, LLVMFlang-19.1.7. gfortran changes its module files with major versions only.
function(dftracer_fortran_folder out)
  set(version "${CMAKE_Fortran_COMPILER_VERSION}")
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    string(REGEX REPLACE "[.].*" "" version "${version}")
  endif()
  set(${out} "${CMAKE_Fortran_COMPILER_ID}-${version}" PARENT_SCOPE)
endfunction()

# libraries: the folder of such folders; sources: that of dftracer.f90.
function(dftracer_fortran_target libraries sources)
  dftracer_fortran_folder(folder)
  set(built "${libraries}/${folder}")
  set(changes_kinds OFF)
  if("${CMAKE_Fortran_FLAGS} " MATCHES "-fdefault-(integer|real)-|-i8 |-r8 |-integer-size|-real-size")
    set(changes_kinds ON)
  endif()
  if(EXISTS "${built}/dftracer.mod" AND NOT changes_kinds AND NOT DFTRACER_FORTRAN_FROM_SOURCE)
    add_library(dftracer::fortran STATIC IMPORTED)
    set_target_properties(dftracer::fortran PROPERTIES
      IMPORTED_LOCATION "${built}/libdftracer_fortran.a"
      IMPORTED_LINK_INTERFACE_LANGUAGES Fortran
      INTERFACE_INCLUDE_DIRECTORIES "${built};${sources}"
      INTERFACE_LINK_LIBRARIES dftracer::dftracer)
    return()
  endif()
  if(NOT dftracer_FIND_QUIETLY)
    message(STATUS "dftracer: building the Fortran module for ${folder}")
  endif()
  set(modules "${CMAKE_BINARY_DIR}/dftracer_fortran")
  add_library(dftracer_fortran STATIC EXCLUDE_FROM_ALL "${sources}/dftracer.f90")
  set_target_properties(dftracer_fortran PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    Fortran_MODULE_DIRECTORY "${modules}"
    ARCHIVE_OUTPUT_DIRECTORY "${modules}")
  target_include_directories(dftracer_fortran PUBLIC "${modules}" "${sources}")
  target_link_libraries(dftracer_fortran PUBLIC dftracer::dftracer)
  add_library(dftracer::fortran ALIAS dftracer_fortran)
endfunction()
