# The Python module starling._starling and its type stub. It is built in the build folder and, in a developer's build,
# copied into python/starling when it differs: builds with and without CUDA can then take turns without fooling the
# build tool about what is up to date. The target starling_python does all of it.

file(GLOB starling_binding_sources CONFIGURE_DEPENDS python/bindings/*.cpp)
if(NOT starling_binding_sources)
  message(STATUS "Starling: no sources in python/bindings, no Python module")
  add_custom_target(starling_python)
  return()
endif()

execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT nanobind_DIR)
  message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind. Run tools/setup, or give a Python that has it with "
    "-DPython_EXECUTABLE=..., or configure with -DSTARLING_PYTHON=OFF")
endif()
find_package(nanobind CONFIG REQUIRED)

# nanobind uses the stable ABI where this Python has what it needs of it (3.12 and newer).
set(starling_module_dir ${PROJECT_BINARY_DIR}/python/starling)
function(starling_python_module name sources)
  nanobind_add_module(${name} STABLE_ABI NB_STATIC ${sources})
  target_link_libraries(${name} PRIVATE starling ${ARGN})
  # Where the C++ library is linked statically, its symbols must not mix with those of a copy that another module brings.
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  target_compile_definitions(${name} PRIVATE STARLING_VERSION="${PROJECT_VERSION}" STARLING_MODULE=${name})
  starling_build_flags(${name})
  # Their warnings are not ours.
  target_include_directories(${name} SYSTEM PRIVATE ${NB_DIR}/include ${Python_INCLUDE_DIRS})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${starling_module_dir})
endfunction()

starling_python_module(_starling "${starling_binding_sources}" ${starling_application_libraries})
if(STARLING_HAS_CHECK)
  # The same for check mode, loaded in its place where STARLING_CHECK is set. Its own code needs no watching: but for the
  # module's name the objects are the same.
  list(TRANSFORM starling_checked_libraries REPLACE "(.+)" "$<LINK_ONLY:\\1>" OUTPUT_VARIABLE starling_linked_only)
  starling_python_module(_starling_checked
    "python/bindings/module.cpp;$<FILTER:$<TARGET_OBJECTS:_starling>,EXCLUDE,/module\\.cpp>" ${starling_linked_only})
  target_include_directories(_starling_checked PRIVATE ${PROJECT_SOURCE_DIR}/apps)
  set_target_properties(_starling_checked PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

nanobind_add_stub(starling_stub MODULE _starling OUTPUT ${starling_module_dir}/_starling.pyi
  PYTHON_PATH ${starling_module_dir} DEPENDS _starling)

add_custom_target(starling_python ALL DEPENDS _starling starling_stub)
set(starling_module_files $<TARGET_FILE:_starling> ${starling_module_dir}/_starling.pyi)
if(SKBUILD)
  # The prefix of a wheel is the package's own folder, which then also holds what find_package finds.
  set(starling_package_dir .)
else()
  set(starling_package_dir starling)
  if(STARLING_INSTALL)
    # Tells starling.cmake_dir() which build the module comes from, and what a user's project needs of it is built too.
    file(WRITE ${starling_module_dir}/_starling_cmake_dir "${starling_config_build_dir}")
    list(APPEND starling_module_files ${starling_module_dir}/_starling_cmake_dir)
    if(STARLING_HAS_CHECK)
      add_dependencies(starling_python starling_accesses)
    endif()
  endif()
  if(STARLING_PYTHON_INPLACE)
    add_custom_command(TARGET starling_python POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${starling_module_files} ${PROJECT_SOURCE_DIR}/python/starling)
  endif()
endif()

if(STARLING_HAS_CHECK)
  # What `starling check` loads: with it check mode sees the loads and stores of the package's own kernels.
  add_custom_target(starling_python_checked DEPENDS _starling_checked)
  add_dependencies(checked starling_python_checked)
  if(STARLING_PYTHON_INPLACE AND NOT SKBUILD)
    add_custom_command(TARGET starling_python_checked POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:_starling_checked> ${PROJECT_SOURCE_DIR}/python/starling)
  endif()
  install(TARGETS _starling_checked LIBRARY DESTINATION ${starling_package_dir} COMPONENT python)
endif()
install(TARGETS _starling LIBRARY DESTINATION ${starling_package_dir} COMPONENT python)
install(FILES ${starling_module_dir}/_starling.pyi DESTINATION ${starling_package_dir} COMPONENT python)

# What a person waits for when pip builds a wheel, shown by pip -v. The minutes are those of one core, as measured with
# g++ 12 and nvcc 13.
if(SKBUILD)
  cmake_host_system_information(RESULT starling_cores QUERY NUMBER_OF_LOGICAL_CORES)
  set(starling_build_what "virtual devices")
  set(starling_build_minutes 10)
  if(STARLING_WITH_CUDA)
    set(starling_build_what "virtual devices and GPUs")
    set(starling_build_minutes 120)
  endif()
  math(EXPR starling_build_minutes "(${starling_build_minutes} + ${starling_cores} - 1) / ${starling_cores}")
  message(STATUS "Starling: builds a wheel for ${starling_build_what}; takes about ${starling_build_minutes} min on "
    "${starling_cores} cores")
endif()
