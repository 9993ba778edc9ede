# The libraries: starling, and one for each application.

find_package(Threads REQUIRED)

file(GLOB_RECURSE starling_sources CONFIGURE_DEPENDS src/*.cpp)
list(FILTER starling_sources EXCLUDE REGEX "/src/machine/(cuda|mpi|check/accesses)/|/src/machine/cuda_absent\\.cpp$|/src/openshmem/")
file(GLOB starling_cuda_sources CONFIGURE_DEPENDS src/machine/cuda/*.cpp)
if(STARLING_WITH_CUDA)
  list(APPEND starling_sources ${starling_cuda_sources})
elseif(EXISTS ${PROJECT_SOURCE_DIR}/src/machine/cuda_absent.cpp)
  # Stands in for src/machine/cuda: says clearly what this build lacks.
  list(APPEND starling_sources src/machine/cuda_absent.cpp)
endif()

add_library(starling STATIC ${starling_sources})
add_library(starling::starling ALIAS starling)
set_target_properties(starling PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON)
target_compile_features(starling PUBLIC cxx_std_20)
target_compile_definitions(starling PRIVATE STARLING_HAS_CUDA=$<BOOL:${STARLING_WITH_CUDA}>)
target_include_directories(starling
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(starling SYSTEM PUBLIC $<BUILD_INTERFACE:${STARLING_LIBCUDACXX_DIR}>)
target_link_libraries(starling PUBLIC Threads::Threads)
if(STARLING_WITH_CUDA)
  # The runtime is linked statically and the driver is looked up at run time, so that programs start without either.
  target_link_libraries(starling PUBLIC CUDA::cudart_static)
endif()
# Fibers jump between stacks, which fortified builds (the default on some systems) take for an error.
set_source_files_properties(src/machine/check/fiber.cpp PROPERTIES
  COMPILE_OPTIONS -U_FORTIFY_SOURCE SKIP_PRECOMPILE_HEADERS ON)
starling_build_flags(starling)
if(STARLING_WITH_CUDA)
  set(starling_own_kernels ${starling_cuda_sources})
  list(FILTER starling_own_kernels INCLUDE REGEX "_kernels\\.cpp$")
  list(APPEND starling_own_kernels ${PROJECT_SOURCE_DIR}/src/stf/persistent/copy_operation_kernels.cpp)
  starling_kernels(starling ${starling_own_kernels})
endif()
starling_precompile(starling <cuda/atomic> <cuda/std/mdspan> <functional> <memory> <string> <vector>)
set_target_properties(starling PROPERTIES UNITY_BUILD ${STARLING_UNITY} UNITY_BUILD_BATCH_SIZE 10)

# starling::check: link it to let check mode see the loads and stores of what you compile. The compiler's calls for each
# access come here; the run-time library that they are usually for is not linked. Sanitizers and other compilers do
# without, and so does what nvcc compiles: check mode then sees calls alone.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT STARLING_SANITIZE)
  set(STARLING_HAS_CHECK ON)
  # What is compiled again for check mode, and what tests it: not part of the default build.
  add_custom_target(checked)
  add_library(starling_accesses STATIC src/machine/check/accesses/accesses.cpp)
  set_target_properties(starling_accesses PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_NAME accesses)
  target_link_libraries(starling_accesses PUBLIC starling)
  starling_build_flags(starling_accesses)
  add_library(starling_check INTERFACE)
  add_library(starling::check ALIAS starling_check)
  set_target_properties(starling_check PROPERTIES EXPORT_NAME check)
  target_link_libraries(starling_check INTERFACE starling_accesses)
  target_compile_definitions(starling_check INTERFACE STARLING_CHECKED)
  # Calls of memcpy and the like stay calls, and have the line they stand in.
  set(starling_seen_calls "-U_FORTIFY_SOURCE -fno-optimize-sibling-calls -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset"
    "-mmemcpy-strategy=libcall:-1:noalign -mmemset-strategy=libcall:-1:noalign")
  list(JOIN starling_seen_calls " " starling_seen_calls)
  target_compile_options(starling_check INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-fsanitize=thread -Wno-tsan -g1 --param tsan-instrument-func-entry-exit=0 ${starling_seen_calls}>")
  foreach(call IN ITEMS memcpy memmove memset __memcpy_chk __memmove_chk __memset_chk)
    target_link_options(starling_check INTERFACE "LINKER:--wrap=${call}")
  endforeach()
endif()

# An application is a static library of its own: starling_application(<name> [<other>...]) takes apps/<name>, whose
# *_kernels.cpp hold kernels and whose headers are included as "<name>/...", and links it to other applications. There
# are two of each: starling_<name>, and starling_<name>_checked, the same compiled so that check mode sees its loads and
# stores. NETWORK, or STARLING_NETWORK for all: for GPU machines of several hosts too.
function(starling_application_library library)
  add_library(${library} STATIC ${ARGN})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/apps> $<INSTALL_INTERFACE:include/starling_apps>)
  target_link_libraries(${library} PUBLIC starling)
  starling_build_flags(${library})
  starling_precompile(${library} <cuda/atomic> <cuda/std/mdspan> <functional> <memory> <string> <vector>)
endfunction()

function(starling_application name)
  cmake_parse_arguments(PARSE_ARGV 1 starling_application NETWORK "" "")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS apps/${name}/*.cpp)
  starling_application_library(starling_${name} ${sources})
  add_library(starling::${name} ALIAS starling_${name})
  set_target_properties(starling_${name} PROPERTIES EXPORT_NAME ${name})
  list(TRANSFORM starling_application_UNPARSED_ARGUMENTS PREPEND starling_ OUTPUT_VARIABLE others)
  target_link_libraries(starling_${name} PUBLIC ${others})
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS apps/${name}/*_kernels.cpp)
  if(kernels AND STARLING_WITH_CUDA)
    set(network)
    if(starling_application_NETWORK OR STARLING_NETWORK)
      set(network NETWORK)
    endif()
    starling_kernels(starling_${name} ${kernels} ${network})
  endif()
  if(STARLING_HAS_CHECK)
    # A source is compiled in one language throughout a folder, so C++ includes what nvcc has compiled already.
    foreach(source IN LISTS kernels)
      if(STARLING_WITH_CUDA)
        get_filename_component(file ${source} NAME)
        set(copy ${PROJECT_BINARY_DIR}/checked/${name}/${file})
        file(CONFIGURE OUTPUT ${copy} CONTENT "#include \"${source}\"\n")
        list(REMOVE_ITEM sources ${source})
        list(APPEND sources ${copy})
      endif()
    endforeach()
    starling_application_library(starling_${name}_checked ${sources})
    set_target_properties(starling_${name}_checked PROPERTIES EXCLUDE_FROM_ALL ON)
    set_target_properties(starling_${name}_checked PROPERTIES EXPORT_NAME ${name}_checked)
    add_library(starling::${name}_checked ALIAS starling_${name}_checked)
    list(TRANSFORM others APPEND _checked)
    target_link_libraries(starling_${name}_checked PUBLIC ${others} starling_check)
  endif()
endfunction()

starling_application(sparse)
starling_application(cg sparse)
starling_application(comm)
starling_application(gio NETWORK)
starling_application(jacobi sparse)
starling_application(overlap)
starling_application(pagerank sparse)
starling_application(sssp sparse)
starling_application(stencil)
set(starling_applications sparse cg comm gio jacobi overlap pagerank sssp stencil)
list(TRANSFORM starling_applications PREPEND starling_ OUTPUT_VARIABLE starling_application_libraries)
list(TRANSFORM starling_application_libraries APPEND _checked OUTPUT_VARIABLE starling_checked_libraries)
# The same bits from every variant, on every machine: no multiply-add is fused unless the source says so. Public, because
# a template of these libraries that is instantiated elsewhere must round the same way.
foreach(library IN LISTS starling_application_libraries starling_checked_libraries)
  if(TARGET ${library})
    target_compile_options(${library} PUBLIC
      $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
      "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-ffp-contract=off>")
  endif()
endforeach()
