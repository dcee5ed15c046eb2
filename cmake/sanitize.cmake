# sanitize.cmake - applies DFTRACER_SANITIZE to everything that is built. The first finding ends the program.
# SPDX-License-Identifier: MIT
if(DFTRACER_SANITIZE)
  add_compile_options(-fsanitize=${DFTRACER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DFTRACER_SANITIZE})
endif()
