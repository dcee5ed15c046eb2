# clean_environment.cmake - read by ctest before it runs a test: no DFTRACER_* variable of the caller reaches a test.
# SPDX-License-Identifier: MIT
execute_process(COMMAND "${CMAKE_COMMAND}" -E environment OUTPUT_VARIABLE environment)
string(REGEX MATCHALL "(^|\n)DFTRACER_[A-Za-z0-9_]*" names "${environment}")
foreach(name IN LISTS names)
  string(STRIP "${name}" name)
  unset(ENV{${name}})
endforeach()
