# What find_package(starling) finds: libraries, headers, and the headers those need. `cmake --install` leaves it in a
# prefix; a build folder is such a prefix too, so that a project can be built against the source tree.

if(NOT STARLING_INSTALL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(starling_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/starling)
set(starling_installed starling ${starling_application_libraries})
if(STARLING_HAS_CHECK)
  list(APPEND starling_installed starling_accesses starling_check ${starling_checked_libraries})
endif()
if(TARGET starling_openshmem)
  list(APPEND starling_installed starling_openshmem)
endif()
# All that the component `development` takes.
add_custom_target(starling_development DEPENDS ${starling_installed})
install(TARGETS ${starling_installed} EXPORT starlingTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(CMAKE_STRIP)
  # `cmake --install --strip`, which wheels are made by, leaves archives as they are: most of the checked ones is debug
  # information.
  install(CODE "
    if(CMAKE_INSTALL_DO_STRIP)
      file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libstarling*.a\")
      execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug \${archives} COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT development)
endif()
install(EXPORT starlingTargets NAMESPACE starling:: DESTINATION ${starling_config_dir} COMPONENT development)
install(DIRECTORY include/starling DESTINATION include COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY apps/ DESTINATION include/starling_apps COMPONENT development FILES_MATCHING PATTERN "*.hpp")
if(NOT STARLING_WITH_CUDA)
  # A program built against this must not need the environment that Starling was built in. cuda/ and nv/ refer to
  # nothing outside themselves.
  install(DIRECTORY ${STARLING_LIBCUDACXX_DIR}/cuda ${STARLING_LIBCUDACXX_DIR}/nv
    DESTINATION include/starling_cccl COMPONENT development)
endif()

set(starling_config_build_dir ${PROJECT_BINARY_DIR}/${starling_config_dir})
set(starling_config_files ${starling_config_build_dir}/starlingConfig.cmake
  ${starling_config_build_dir}/starlingConfigVersion.cmake ${starling_config_build_dir}/starling_kernels.cmake)
configure_package_config_file(cmake/starlingConfig.cmake.in ${starling_config_build_dir}/starlingConfig.cmake
  INSTALL_DESTINATION ${starling_config_dir})
write_basic_package_version_file(${starling_config_build_dir}/starlingConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(cmake/starling_kernels.cmake ${starling_config_build_dir}/starling_kernels.cmake COPYONLY)
install(FILES ${starling_config_files} DESTINATION ${starling_config_dir} COMPONENT development)
export(EXPORT starlingTargets NAMESPACE starling:: FILE ${starling_config_build_dir}/starlingTargets.cmake)
