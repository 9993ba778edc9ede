# starling_kernels(<target> [<source>...])
#
# Tells CMake which sources of a target hold kernels: those named (they are added to the target if they are not in it),
# or all its .cpp files. The C++ compiler builds them where Starling has no GPU part, nvcc where it has. Call it in the
# directory that makes the target.

function(starling_kernels target)
  set(kernels ${ARGN})
  get_target_property(present ${target} SOURCES)
  if(NOT present)
    set(present)
  endif()
  if(kernels)
    foreach(source IN LISTS kernels)
      if(NOT source IN_LIST present)
        target_sources(${target} PRIVATE ${source})
      endif()
    endforeach()
  else()
    set(kernels ${present})
    list(FILTER kernels INCLUDE REGEX "\\.cpp$")
  endif()

  if(STARLING_WITH_CUDA)
    set_source_files_properties(${kernels} PROPERTIES LANGUAGE CUDA)
    # The standard is spelled out: CMake 3.25 does not know how to ask nvcc for C++20.
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--extended-lambda;--expt-relaxed-constexpr>")
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${STARLING_CUDA_ARCH}")
  endif()
endfunction()
