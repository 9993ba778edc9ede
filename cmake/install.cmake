# What `cmake --install` leaves for find_package(starling): libraries, headers, and the headers those need.

if(NOT STARLING_INSTALL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(starling_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/starling)
set(starling_installed starling starling_cg starling_comm starling_stencil)
if(STARLING_HAS_CHECK)
  list(APPEND starling_installed starling_accesses starling_check starling_cg_checked
    starling_comm_checked starling_stencil_checked)
endif()
install(TARGETS ${starling_installed} EXPORT starlingTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT starlingTargets NAMESPACE starling:: DESTINATION ${starling_config_dir} COMPONENT development)
install(DIRECTORY include/starling DESTINATION include COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY apps/ DESTINATION include/starling_apps COMPONENT development FILES_MATCHING PATTERN "*.hpp")
if(NOT STARLING_WITH_CUDA)
  # A program built against this must not need the environment that Starling was built in. cuda/ and nv/ refer to
  # nothing outside themselves.
  install(DIRECTORY ${STARLING_LIBCUDACXX_DIR}/cuda ${STARLING_LIBCUDACXX_DIR}/nv
    DESTINATION include/starling_cccl COMPONENT development)
endif()

configure_package_config_file(cmake/starlingConfig.cmake.in ${PROJECT_BINARY_DIR}/starlingConfig.cmake
  INSTALL_DESTINATION ${starling_config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/starlingConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/starlingConfig.cmake ${PROJECT_BINARY_DIR}/starlingConfigVersion.cmake
  cmake/starling_kernels.cmake DESTINATION ${starling_config_dir} COMPONENT development)
