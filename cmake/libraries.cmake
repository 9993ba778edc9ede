# The libraries: starling, and one for each application.

find_package(Threads REQUIRED)

file(GLOB_RECURSE starling_sources CONFIGURE_DEPENDS src/*.cpp)
list(FILTER starling_sources EXCLUDE REGEX "/src/machine/(cuda|nvshmem)/|/src/machine/cuda_absent\\.cpp$")
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
starling_build_flags(starling)
if(STARLING_WITH_CUDA)
  set(starling_own_kernels ${starling_cuda_sources})
  list(FILTER starling_own_kernels INCLUDE REGEX "_kernels\\.cpp$")
  starling_kernels(starling ${starling_own_kernels})
endif()
starling_precompile(starling <cuda/atomic> <cuda/std/mdspan> <functional> <memory> <string> <vector>)

# An application is a static library of its own: starling_application(<name>) takes apps/<name>, whose *_kernels.cpp
# hold kernels and whose headers are included as "<name>/...".
function(starling_application name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS apps/${name}/*.cpp)
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "_kernels\\.cpp$")
  set(library starling_${name})
  add_library(${library} STATIC ${sources})
  add_library(starling::${name} ALIAS ${library})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON EXPORT_NAME ${name})
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/apps> $<INSTALL_INTERFACE:include/starling_apps>)
  target_link_libraries(${library} PUBLIC starling)
  starling_build_flags(${library})
  if(kernels)
    starling_kernels(${library} ${kernels})
  endif()
endfunction()

starling_application(stencil)
# The same bits from every variant, on every machine: no multiply-add is fused unless the source says so. Public, because
# a template of this library that is instantiated elsewhere must round the same way.
target_compile_options(starling_stencil PUBLIC
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-ffp-contract=off>")
