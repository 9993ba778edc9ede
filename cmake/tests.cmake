# One executable for each kind of test, and one CTest entry for each source in it: few links, yet failures have names.

set(starling_test_environment UBSAN_OPTIONS=print_stacktrace=1 "TSAN_OPTIONS=halt_on_error=1 second_deadlock_stack=1")

# The test framework's own code, compiled once for all of them.
add_library(starling_test_main OBJECT tests/main.cpp)
target_include_directories(starling_test_main SYSTEM PUBLIC third_party)
target_compile_features(starling_test_main PUBLIC cxx_std_20)
starling_build_flags(starling_test_main)

# starling_test_suite(<suite> [<library>...]): the libraries are those that it needs beside starling's own.
function(starling_test_suite suite)
  set(libraries ${ARGN})
  if(NOT libraries)
    set(libraries starling_stencil)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/${suite}/*.cpp)
  if(NOT sources)
    add_custom_target(${suite})
    return()
  endif()
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "_kernels\\.cpp$")

  add_executable(${suite} ${sources})
  target_include_directories(${suite} PRIVATE tests src)
  target_link_libraries(${suite} PRIVATE starling ${libraries} starling_test_main)
  starling_build_flags(${suite})
  starling_precompile(${suite} <cuda/atomic> <cuda/std/mdspan> <doctest/doctest.h> <functional> <string> <vector>)
  if(kernels)
    starling_kernels(${suite} ${kernels})
  endif()

  foreach(source IN LISTS sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${source})
    set(filter "*tests/${name}")
    string(REGEX REPLACE "\\.cpp$" "" name ${name})
    string(REPLACE "/" "." name ${name})
    add_test(NAME ${name} COMMAND ${suite} --source-file=${filter})
    set_tests_properties(${name} PROPERTIES LABELS ${suite} TIMEOUT 300 ENVIRONMENT "${starling_test_environment}")
  endforeach()
endfunction()

starling_test_suite(unit)
starling_test_suite(protocol)
starling_test_suite(misuse)
if(STARLING_HAS_CHECK AND NOT STARLING_WITH_CUDA)
  # What check mode finds and what it lets pass.
  starling_test_suite(check starling_stencil_checked starling_check)
endif()

# Sources that must not compile: the first line says `// expect: ` and a text that the compiler's message has to contain.
file(GLOB starling_compile_fail_sources CONFIGURE_DEPENDS tests/compile_fail/*.cpp)
foreach(source IN LISTS starling_compile_fail_sources)
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME compile_fail.${name} COMMAND ${CMAKE_COMMAND} -D COMPILER=${CMAKE_CXX_COMPILER} -D SOURCE=${source}
    -D "INCLUDES=${PROJECT_SOURCE_DIR}/include;${PROJECT_SOURCE_DIR}/apps;${STARLING_LIBCUDACXX_DIR}"
    -P ${PROJECT_SOURCE_DIR}/cmake/expect_compile_failure.cmake)
  set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail TIMEOUT 120)
endforeach()
