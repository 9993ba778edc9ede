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
nanobind_add_module(_starling STABLE_ABI NB_STATIC ${starling_binding_sources})
target_link_libraries(_starling PRIVATE starling starling_stencil)
# Where the C++ library is linked statically, its symbols must not mix with those of a copy that another module brings.
target_link_options(_starling PRIVATE -Wl,--exclude-libs,ALL)
target_compile_definitions(_starling PRIVATE STARLING_VERSION="${PROJECT_VERSION}")
starling_build_flags(_starling)
# Their warnings are not ours.
target_include_directories(_starling SYSTEM PRIVATE ${NB_DIR}/include ${Python_INCLUDE_DIRS})
set(starling_module_dir ${PROJECT_BINARY_DIR}/python/starling)
set_target_properties(_starling PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${starling_module_dir})

nanobind_add_stub(starling_stub MODULE _starling OUTPUT ${starling_module_dir}/_starling.pyi
  PYTHON_PATH ${starling_module_dir} DEPENDS _starling)

add_custom_target(starling_python ALL DEPENDS _starling starling_stub)
if(STARLING_PYTHON_INPLACE AND NOT SKBUILD)
  add_custom_command(TARGET starling_python POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:_starling> ${starling_module_dir}/_starling.pyi
      ${PROJECT_SOURCE_DIR}/python/starling)
endif()

install(TARGETS _starling LIBRARY DESTINATION starling COMPONENT python)
install(FILES ${starling_module_dir}/_starling.pyi DESTINATION starling COMPONENT python)
