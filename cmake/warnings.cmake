# warnings.cmake - dftracer_warnings: an interface target that every target of this project links privately.
# SPDX-License-Identifier: MIT
add_library(dftracer_warnings INTERFACE)
target_compile_options(dftracer_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wvla
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  $<$<BOOL:${DFTRACER_WERROR}>:-Werror>)
