# What a person may choose, and the defaults of a build that chooses nothing.

set(STARLING_CUDA auto CACHE STRING "Build for GPUs too: auto (if nvcc and a GPU are here), on, off")
set_property(CACHE STARLING_CUDA PROPERTY STRINGS auto on off)
set(STARLING_CUDA_ARCH 90 CACHE STRING "GPU architectures to compile kernels for, e.g. 90 or 90;100 or native")
set(STARLING_SANITIZE "" CACHE STRING "Sanitizers for everything built here, e.g. thread or address,undefined")
option(STARLING_PYTHON "Build the Python module" OFF)
option(STARLING_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(STARLING_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(STARLING_BENCH "Build the benchmarks" OFF)
option(STARLING_NATIVE "Compile for this machine's processor (-march=native)" ${PROJECT_IS_TOP_LEVEL})
option(STARLING_PYTHON_INPLACE "Copy the Python module into python/starling, so that python/ is a working package" ON)
option(STARLING_INSTALL "Make install rules" ON)
option(STARLING_PCH "Precompile the headers that most sources include; quicker, but hides a missing #include" OFF)
option(STARLING_UNITY "Compile the library's sources several at a time; quicker as a whole, slower after a change" OFF)

# Warnings are errors with the compiler they were cleared with. A newer one knows new warnings, and those must not stop
# somebody who only wants to build.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(starling_werror_default ON)
else()
  set(starling_werror_default OFF)
endif()
option(STARLING_WERROR "Treat warnings as errors" ${starling_werror_default})

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

  # Not with precompiled headers, which it cannot see through.
  find_program(STARLING_CCACHE ccache)
  mark_as_advanced(STARLING_CCACHE)
  if(STARLING_CCACHE AND NOT STARLING_PCH)
    foreach(language IN ITEMS CXX CUDA)
      if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER ${STARLING_CCACHE})
      endif()
    endforeach()
  endif()
endif()
