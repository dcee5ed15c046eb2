# install.cmake - headers, library, command, CMake package and pkg-config file. The installed tree can be moved.
# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dftracer")

file(RELATIVE_PATH lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set_target_properties(dftracer_command PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
set_target_properties(dftracer_reader PROPERTIES INSTALL_RPATH "$ORIGIN") # where it finds the core
set_target_properties(dftracer_nvtx PROPERTIES INSTALL_RPATH "$ORIGIN")

set(preload_target dftracer_preload)
if(NOT DFTRACER_PRELOAD)
  set(preload_target)
endif()
install(TARGETS dftracer_core dftracer_reader ${preload_target} EXPORT dftracer
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS dftracer_nvtx LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}") # programs load it by its path; nothing links it
install(TARGETS dftracer_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY c/include/dftracer DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING REGEX "[.]h(pp)?$")
install(FILES "${DFTRACER_GENERATED_INCLUDE}/dftracer/names.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/dftracer")
if(NOT CMAKE_CROSSCOMPILING)
  set(share "${PROJECT_BINARY_DIR}/share")
  install(FILES "${share}/man" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" RENAME dftracer.1)
  install(FILES "${share}/completion_bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME dftracer)
  install(FILES "${share}/completion_zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" RENAME _dftracer)
endif()

# Older builds link -ldftracer.
file(CREATE_LINK libdftracer_core.so "${PROJECT_BINARY_DIR}/libdftracer.so" SYMBOLIC)
install(FILES "${PROJECT_BINARY_DIR}/libdftracer.so" DESTINATION "${CMAKE_INSTALL_LIBDIR}")

install(EXPORT dftracer FILE dftracerTargets.cmake NAMESPACE dftracer:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/dftracerConfig.cmake.in dftracerConfig.cmake
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_DATADIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(dftracerConfigVersion.cmake COMPATIBILITY AnyNewerVersion)
install(FILES "${PROJECT_BINARY_DIR}/dftracerConfig.cmake" "${PROJECT_BINARY_DIR}/dftracerConfigVersion.cmake"
  cmake/dftracerFortran.cmake
  DESTINATION "${package_dir}")

file(RELATIVE_PATH prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH lib_from_prefix "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH include_from_prefix "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file(cmake/dftracer.pc.in dftracer.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/dftracer.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
