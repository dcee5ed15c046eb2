# names.cmake - writes dftracer/names.h, the names of all environment variables, from the tables in c/base.
# SPDX-License-Identifier: MIT
set(tables "${PROJECT_SOURCE_DIR}/c/base/setting.h" "${PROJECT_SOURCE_DIR}/c/base/ignored.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables})

set(names "")
foreach(table IN LISTS tables)
  file(READ "${table}" text)
  string(REGEX MATCHALL "\n  X\\(\"?[A-Z_]+" rows "${text}") # a row begins with X(NAME or X("NAME"
  if(NOT rows)
    message(FATAL_ERROR "${table} has no rows that cmake/names.cmake can read")
  endif()
  list(TRANSFORM rows REPLACE "\n  X\\(\"?" "DFTRACER_")
  list(APPEND names ${rows})
endforeach()
list(SORT names)

set(lines "")
foreach(name IN LISTS names)
  string(APPEND lines "#ifndef ${name}\n#define ${name} \"${name}\"\n#endif\n")
endforeach()
set(DFTRACER_GENERATED_INCLUDE "${PROJECT_BINARY_DIR}/include")
file(CONFIGURE OUTPUT "${DFTRACER_GENERATED_INCLUDE}/dftracer/names.h" @ONLY CONTENT
"/* names.h - the names of the environment variables as text: setenv(DFTRACER_LOG_FILE, \"out/trace\", 1).
 *
 * A name that the build has already defined, as with -DDFTRACER_ENABLE, is left as it is.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_NAMES_H
#define DFTRACER_NAMES_H

@lines@
#endif
")
