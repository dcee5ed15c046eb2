# fortran.cmake - is the module dftracer built? Sets DFTRACER_HAS_FORTRAN, and DFTRACER_FORTRAN_SUMMARY.
#
# Its source is installed in any case: a project that speaks Fortran builds it for its own compiler (dftracerFortran.cmake).
# SPDX-License-Identifier: MIT
include(CheckLanguage)
set(DFTRACER_HAS_FORTRAN OFF)
if(DFTRACER_FORTRAN STREQUAL "auto" AND DFTRACER_SANITIZE)
  set(DFTRACER_FORTRAN_SUMMARY "off (with sanitizers)")
elseif(DFTRACER_FORTRAN)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    set(DFTRACER_HAS_FORTRAN ON)
    set(DFTRACER_FORTRAN_SUMMARY "on, ${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
  elseif(DFTRACER_FORTRAN STREQUAL "auto")
    set(DFTRACER_FORTRAN_SUMMARY "off (no Fortran compiler was found)")
  else()
    message(FATAL_ERROR "DFTRACER_FORTRAN=${DFTRACER_FORTRAN}: no Fortran compiler was found")
  endif()
else()
  set(DFTRACER_FORTRAN_SUMMARY "off (DFTRACER_FORTRAN)")
endif()
