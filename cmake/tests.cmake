# One executable for each kind of test, and one CTest entry for each source in it: few links, yet failures have names.

# Seconds that a source's tests may take; with sanitizers they take ten times as long as without.
if(STARLING_SANITIZE)
  set(starling_test_limit 900)
else()
  set(starling_test_limit 300)
endif()
set(starling_test_environment UBSAN_OPTIONS=print_stacktrace=1 "TSAN_OPTIONS=halt_on_error=1 second_deadlock_stack=1")

# What a source defines before it includes holds for it alone.
set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/unit/stf/slice_bounds_kernels.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON)

# The test framework's own code, compiled once for all of them.
add_library(starling_test_main OBJECT tests/main.cpp)
target_include_directories(starling_test_main SYSTEM PUBLIC third_party)
target_compile_features(starling_test_main PUBLIC cxx_std_20)
starling_build_flags(starling_test_main)

# starling_test_program(<name> "<source>;..." <library>...): one program.
function(starling_test_program name sources)
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "_kernels\\.cpp$")
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE tests src)
  target_link_libraries(${name} PRIVATE starling ${ARGN} starling_test_main)
  starling_build_flags(${name})
  # The oracles are loops in the tests, which must round as the libraries do. Optimising tests costs more than it saves;
  # in check mode it is what makes the lines of the library's functions, inlined, those of their callers.
  set(level -Og)
  if("${ARGN}" MATCHES "check")
    set(level -O1)
  endif()
  target_compile_options(${name} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;$<$<CONFIG:Release>:${level}>>"
    "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-ffp-contract=off>")
  starling_precompile(${name} <cuda/atomic> <cuda/std/mdspan> <doctest/doctest.h> <functional> <string> <vector>)
  # Each source has a namespace of its own, but for those of applications and processes.
  if(NOT name MATCHES "apps|processes")
    set_target_properties(${name} PROPERTIES UNITY_BUILD ${STARLING_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  endif()
  # Those that are to run on GPUs of several hosts too; where nothing runs on GPUs, those with every call are enough.
  set(networked ${kernels})
  if(STARLING_CUDA_ARCH MATCHES "-virtual$")
    list(FILTER networked INCLUDE REGEX "/(unit/network|hosts_on_gpus)/")
  else()
    list(FILTER networked INCLUDE REGEX "/(unit/(device|network|shmem)|protocol|hosts_on_gpus)/|/apps/gio_")
  endif()
  list(FILTER networked EXCLUDE REGEX "/hosts_on_gpus/plain_")
  if(networked)
    list(REMOVE_ITEM kernels ${networked})
    starling_kernels(${name} ${networked} NETWORK)
  endif()
  set(launching ${kernels})
  list(FILTER launching INCLUDE REGEX "/unit/(machine/launches|region/launched)_kernels.cpp$")
  if(launching)
    list(REMOVE_ITEM kernels ${launching})
    starling_kernels(${name} ${launching} LAUNCHES)
  endif()
  if(kernels)
    starling_kernels(${name} ${kernels})
  endif()
  # Every call by every group, which the optimiser would take minutes for.
  if(STARLING_WITH_CUDA AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13 AND
     NOT CMAKE_CUDA_FLAGS_RELEASE MATCHES "Ofast-compile")
    set(many_calls ${networked})
    list(FILTER many_calls INCLUDE REGEX "/unit/shmem/")
    foreach(source IN LISTS many_calls)
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
        "$<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=min>")
    endforeach()
  endif()
  list(APPEND kernels ${networked} ${launching})
  # Where kernels are compiled to PTX alone, those that use every instruction of the device layer are assembled too.
  if(STARLING_CUDA_ARCH MATCHES "^([0-9]+)-virtual$")
    set(assemble "--generate-code=arch=compute_${CMAKE_MATCH_1},code=sm_${CMAKE_MATCH_1}")
    list(FILTER kernels INCLUDE REGEX "/unit/device/")
    foreach(source IN LISTS kernels)
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${assemble}")
    endforeach()
  endif()
endfunction()

# starling_test_suite(<suite> <library>...): the program of tests/<suite>, and a test for each of its sources.
function(starling_test_suite suite)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/${suite}/*.cpp)
  if(NOT sources)
    add_custom_target(${suite})
    return()
  endif()
  starling_test_program(${suite} "${sources}" ${ARGN})
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${source})
    set(filter "*tests/${name}")
    string(REGEX REPLACE "\\.cpp$" "" name ${name})
    string(REPLACE "/" "." name ${name})
    add_test(NAME ${name} COMMAND ${suite} --source-file=${filter})
    set_tests_properties(${name} PROPERTIES LABELS ${suite} TIMEOUT ${starling_test_limit}
      ENVIRONMENT "${starling_test_environment}")
  endforeach()
endfunction()

# The steps that GPUs took, which the cost model of stencils is held against.
set_source_files_properties(tests/apps/stencil_recorded_costs.cpp PROPERTIES COMPILE_DEFINITIONS
  STARLING_STENCIL_RESULTS="${PROJECT_SOURCE_DIR}/bench/cpu_free_stencil/results")

starling_test_suite(unit)
starling_test_suite(protocol)
starling_test_suite(misuse)
# Processes share virtual devices alone. The tests fork, before they have threads.
if(NOT STARLING_WITH_CUDA)
  starling_test_suite(processes)
  # Stands in for NVSHMEM's host library.
  add_library(nvshmem_double MODULE tests/nvshmem_double/nvshmem_double.cpp)
  target_compile_features(nvshmem_double PRIVATE cxx_std_20)
  target_include_directories(nvshmem_double PRIVATE include src)
  starling_build_flags(nvshmem_double)
  add_dependencies(processes nvshmem_double)
  set_source_files_properties(tests/processes/nvshmem.cpp PROPERTIES COMPILE_DEFINITIONS
    STARLING_NVSHMEM_DOUBLE="$<TARGET_FILE:nvshmem_double>")
endif()
starling_test_suite(apps ${starling_application_libraries})
if(STARLING_HAS_CHECK AND NOT STARLING_WITH_CUDA)
  # What check mode finds and what it lets pass.
  starling_test_suite(check ${starling_checked_libraries})
  # Wrong programs of all classes, and which of them it finds.
  starling_test_suite(wrong starling_check)
  # Most tests again: right programs, which check mode must let pass. What counts bytes of memory is left out: check mode
  # leaves room between arrays. So are records of blocks, of which a trace has none there.
  foreach(suite unit protocol apps)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/${suite}/*.cpp)
    starling_test_program(${suite}_checked "${sources}" ${starling_checked_libraries})
    set_target_properties(${suite}_checked PROPERTIES EXCLUDE_FROM_ALL ON)
    add_test(NAME ${suite}_checked COMMAND ${suite}_checked
      --source-file-exclude=*/symmetric_array.cpp,*/place_memory.cpp,*/trace_kernels.cpp,*misuse*,*/stencil_faults.cpp,*/cg_faults.cpp,*/network/hosts.cpp
      --test-case-exclude=*memory*,*environment*,*needs?no?room*)
    set_tests_properties(${suite}_checked PROPERTIES LABELS checked TIMEOUT 3600 ENVIRONMENT "STARLING_CHECK=5")
  endforeach()
endif()

# Processes of several hosts with PEs on GPUs; where there are none, on virtual devices. They fork before they use CUDA.
if(STARLING_WITH_CUDA)
  starling_test_suite(hosts_on_gpus starling_cg starling_pagerank starling_stencil)
  if(STARLING_NETWORK)
    set_source_files_properties(tests/hosts_on_gpus/solvers.cpp PROPERTIES COMPILE_DEFINITIONS STARLING_SOLVERS_OF_HOSTS)
  endif()
endif()

# The wrong programs within a block, for what GPUs and their tools make of them: bench/check/on_gpus.py.
if(STARLING_WITH_CUDA)
  file(GLOB sources CONFIGURE_DEPENDS tests/wrong/threads_*_kernels.cpp)
  starling_test_program(wrong_on_gpus "${sources}")
  set_target_properties(wrong_on_gpus PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# `make test` takes the core's suites whole, and of the others, which `make verify` has whole, one short case each.
set(starling_quick apps/stencil.cpp apps/cg_solve.cpp)
set(starling_quick_libraries starling_cg starling_stencil)
if(STARLING_HAS_CHECK AND NOT STARLING_WITH_CUDA)
  starling_test_program(quick_check "${PROJECT_SOURCE_DIR}/tests/check/schedules_kernels.cpp" starling_check)
  add_test(NAME quick_check COMMAND quick_check)
  set_tests_properties(quick_check PROPERTIES LABELS quick TIMEOUT ${starling_test_limit})
endif()
list(TRANSFORM starling_quick PREPEND ${PROJECT_SOURCE_DIR}/tests/)
starling_test_program(quick_apps "${starling_quick}" ${starling_quick_libraries})
add_test(NAME quick_apps COMMAND quick_apps)
set_tests_properties(quick_apps PROPERTIES LABELS quick TIMEOUT ${starling_test_limit})
set_target_properties(quick_apps PROPERTIES EXCLUDE_FROM_ALL ON)
if(TARGET quick_check)
  set_target_properties(quick_check check wrong PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(checked check wrong)
endif()

# Sources that must not compile: the first line says `// expect: ` and a text that the compiler's message has to contain.
file(GLOB starling_compile_fail_sources CONFIGURE_DEPENDS tests/compile_fail/*.cpp)
foreach(source IN LISTS starling_compile_fail_sources)
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME compile_fail.${name} COMMAND ${CMAKE_COMMAND} -D COMPILER=${CMAKE_CXX_COMPILER} -D SOURCE=${source}
    -D "INCLUDES=${PROJECT_SOURCE_DIR}/include;${PROJECT_SOURCE_DIR}/apps;${STARLING_LIBCUDACXX_DIR}"
    -P ${PROJECT_SOURCE_DIR}/cmake/expect_compile_failure.cmake)
  set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail TIMEOUT 120)
  if(name STREQUAL put_not_trivially_copyable)
    set_tests_properties(compile_fail.${name} PROPERTIES LABELS "compile_fail;quick")
  endif()
endforeach()
