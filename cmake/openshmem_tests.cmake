# tests/openshmem: programs in C, run by processes that a script starts. Every one is a test, by 1 to 5 PEs; and another
# one by processes that mpirun starts, each a host of its own, where it is.

if(NOT TARGET starling_openshmem OR STARLING_SANITIZE)
  return()
endif()
include(CheckLanguage)
check_language(C)
if(NOT CMAKE_C_COMPILER)
  return()
endif()
enable_language(C)

add_custom_target(openshmem)
set(starling_openshmem_run ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/openshmem/run.py)

# starling_openshmem_program(<name> <source> [<option of compiler and linker>...])
function(starling_openshmem_program name source)
  add_executable(openshmem_${name} EXCLUDE_FROM_ALL tests/openshmem/${source})
  set_target_properties(openshmem_${name} PROPERTIES C_STANDARD 11 C_EXTENSIONS ON CXX_EXTENSIONS ON)
  target_compile_options(openshmem_${name} PRIVATE -Wall -Werror $<$<CONFIG:Release>:-O0> ${ARGN})
  target_include_directories(openshmem_${name} PRIVATE ${starling_openshmem_made})
  target_link_options(openshmem_${name} PRIVATE ${ARGN})
  target_link_libraries(openshmem_${name} PRIVATE starling::openshmem)
  add_dependencies(openshmem openshmem_${name})
endfunction()

function(starling_openshmem_test name)
  add_test(NAME openshmem.${name} COMMAND ${starling_openshmem_run} ${ARGN} $<TARGET_FILE:openshmem_${name}>)
  set_tests_properties(openshmem.${name} PROPERTIES LABELS openshmem TIMEOUT 120)
endfunction()

find_program(STARLING_MPIRUN mpirun)
mark_as_advanced(STARLING_MPIRUN)
set(starling_openshmem_hosts OFF)
if(STARLING_MPIRUN AND TARGET starling_mpi_engine)
  set(starling_openshmem_hosts ON)
endif()

# starling_openshmem_hosts_test(<name> <processes>)
function(starling_openshmem_hosts_test name processes)
  if(starling_openshmem_hosts)
    add_test(NAME openshmem.${name}_hosts
      COMMAND ${starling_openshmem_run} --mpi -n ${processes} $<TARGET_FILE:openshmem_${name}>)
    set_tests_properties(openshmem.${name}_hosts PROPERTIES LABELS openshmem TIMEOUT 120)
  endif()
endfunction()

# By NVSHMEM's host library, for which another one stands in.
foreach(name IN ITEMS order teams)
  add_test(NAME openshmem.${name}_nvshmem
    COMMAND ${starling_openshmem_run} -n 2,3 --variable STARLING_TRANSPORT=nvshmem
    --variable STARLING_NVSHMEM_LIBRARY=$<TARGET_FILE:nvshmem_double> $<TARGET_FILE:openshmem_${name}>)
  set_tests_properties(openshmem.${name}_nvshmem PROPERTIES LABELS openshmem TIMEOUT 120)
endforeach()
add_dependencies(openshmem nvshmem_double)

foreach(name IN ITEMS generics globals memory old_names order profiler random_operations teams typed_access
    typed_atomics typed_collectives typed_waits)
  starling_openshmem_program(${name} ${name}.c)
  starling_openshmem_test(${name})
  starling_openshmem_hosts_test(${name} 2,4)
endforeach()
starling_openshmem_program(generics_cxx generics_cxx.cpp)
starling_openshmem_test(generics_cxx -n 1,3)
# Executables have their globals elsewhere.
starling_openshmem_program(globals_fixed globals.c -no-pie -fno-pie)
starling_openshmem_test(globals_fixed -n 1,3)
starling_openshmem_hosts_test(globals_fixed 1,3)
starling_openshmem_program(globals_static globals.c -static)
starling_openshmem_test(globals_static -n 1,3)
starling_openshmem_program(globals_unsealed globals.c -Wl,-z,norelro)
starling_openshmem_test(globals_unsealed -n 1,3)
starling_openshmem_program(memory_static memory.c -static)
starling_openshmem_test(memory_static -n 3)

# Other operations than those of `make test`.
foreach(seed RANGE 2 9)
  add_test(NAME openshmem.random_operations_${seed}
    COMMAND ${starling_openshmem_run} $<TARGET_FILE:openshmem_random_operations> ${seed})
  set_tests_properties(openshmem.random_operations_${seed} PROPERTIES LABELS openshmem_more TIMEOUT 120)
endforeach()

starling_openshmem_program(misuse misuse.c)
add_test(NAME openshmem.misuse
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/openshmem/misuse.py $<TARGET_FILE:openshmem_misuse>
  $<TARGET_FILE:openshmem_globals>)
set_tests_properties(openshmem.misuse PROPERTIES LABELS openshmem TIMEOUT 180)
if(starling_openshmem_hosts)
  add_test(NAME openshmem.misuse_hosts
    COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/openshmem/misuse.py --mpi
    $<TARGET_FILE:openshmem_misuse> $<TARGET_FILE:openshmem_globals>)
  set_tests_properties(openshmem.misuse_hosts PROPERTIES LABELS openshmem TIMEOUT 180)
endif()
