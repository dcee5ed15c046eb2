# cmake -DMANIFEST=<build>/install_manifest.txt -P cmake/uninstall.cmake
#
# Removes what `cmake --install` wrote, and the folders that are empty then, up to the one that all of it was installed to.
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.16)
if(NOT MANIFEST OR NOT EXISTS "${MANIFEST}")
  message(FATAL_ERROR "give the list of installed files: cmake -DMANIFEST=<build>/install_manifest.txt -P cmake/uninstall.cmake")
endif()
file(STRINGS "${MANIFEST}" files)

list(GET files 0 prefix)
foreach(file IN LISTS files)
  string(FIND "${file}" "${prefix}/" at)
  while(NOT at EQUAL 0)
    get_filename_component(prefix "${prefix}" DIRECTORY)
    string(FIND "${file}" "${prefix}/" at)
  endwhile()
endforeach()

foreach(file IN LISTS files)
  file(REMOVE "${file}")
endforeach()
foreach(file IN LISTS files)
  get_filename_component(folder "${file}" DIRECTORY)
  string(FIND "${folder}/" "${prefix}/" at)
  while(at EQUAL 0)
    execute_process(COMMAND rmdir "${folder}" OUTPUT_QUIET ERROR_QUIET) # which removes no folder that holds something
    if(EXISTS "${folder}")
      break()
    endif()
    get_filename_component(folder "${folder}" DIRECTORY)
    string(FIND "${folder}/" "${prefix}/" at)
  endwhile()
endforeach()
