# starling_kernels(<target> [<source>...] [NETWORK] [LAUNCHES])
#
# Tells CMake which sources of a target hold kernels: those named (they are added to the target if they are not in it),
# or all its .cpp files. The C++ compiler builds them where Starling has no GPU part, nvcc where it has. Call it in the
# directory that makes the target.
#
# NETWORK: their kernels run on GPU machines of several hosts too, whose blocks reach some PEs by way of network cards.
# Each kernel is then compiled once more, so that on machines of one host it is as without.
#
# LAUNCHES: their kernels may launch others (thread::launch), which takes relocatable code for GPUs. Kernels in them must
# be types of their own: of one that is compiled in another source too, either code may run.

function(starling_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 starling_kernels "NETWORK;LAUNCHES" "" "")
  set(kernels ${starling_kernels_UNPARSED_ARGUMENTS})
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
    if(starling_kernels_NETWORK)
      set_property(SOURCE ${kernels} APPEND PROPERTY COMPILE_DEFINITIONS STARLING_NETWORK)
    endif()
    if(starling_kernels_LAUNCHES)
      # Functions that are not inlined have no launch bounds, and must not need more registers than the kernels that call
      # them, which may have 64 where a block has 1024 threads.
      set_property(SOURCE ${kernels} APPEND PROPERTY COMPILE_OPTIONS
        "$<$<COMPILE_LANGUAGE:CUDA>:-rdc=true;--maxrregcount=64>")
      set_target_properties(${target} PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS ON)
      # Relocatable code is linked for a GPU, which PTX is not.
      if(STARLING_CUDA_ARCH MATCHES "^([0-9]+)-virtual$")
        set(assemble "arch=compute_${CMAKE_MATCH_1},code=sm_${CMAKE_MATCH_1}")
        set_property(SOURCE ${kernels} APPEND PROPERTY COMPILE_OPTIONS
          "$<$<COMPILE_LANGUAGE:CUDA>:--generate-code=${assemble}>")
        target_link_options(${target} PRIVATE "$<DEVICE_LINK:--generate-code=arch=compute_${CMAKE_MATCH_1}$<COMMA>code=sm_${CMAKE_MATCH_1}>")
      endif()
    endif()
    # The standard is spelled out: CMake 3.25 does not know how to ask nvcc for C++20.
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--extended-lambda;--expt-relaxed-constexpr>")
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${STARLING_CUDA_ARCH}")
  endif()
endfunction()
