# Flags for what is built here; none of them reaches the users of the libraries.

# Reports name source files; those of this project from its root.
set(starling_prefix_map -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -fdebug-prefix-map=${PROJECT_BINARY_DIR}=.)
set(starling_cxx_flags -Wall -Wextra -Wpedantic -Wshadow ${starling_prefix_map})
# nvcc's generated host code is not pedantic.
set(starling_cuda_host_flags -Wall -Wextra -Wshadow ${starling_prefix_map})
set(starling_cuda_flags)
if(STARLING_WERROR)
  list(APPEND starling_cxx_flags -Werror)
  list(APPEND starling_cuda_host_flags -Werror)
  list(APPEND starling_cuda_flags "SHELL:-Werror all-warnings")
endif()
if(STARLING_NATIVE)
  list(APPEND starling_cxx_flags -march=native)
  list(APPEND starling_cuda_host_flags -march=native)
endif()
list(JOIN starling_cuda_host_flags "," starling_cuda_host_flags)

function(starling_build_flags target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${starling_cxx_flags}>"
    "$<$<COMPILE_LANGUAGE:CUDA>:${starling_cuda_flags};-Xcompiler=${starling_cuda_host_flags}>")
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# starling_precompile(<target> <header>...): saves up to a second for each source of a large target.
function(starling_precompile target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  if(STARLING_PCH AND count GREATER 8)
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()

if(STARLING_SANITIZE)
  if(STARLING_WITH_CUDA)
    message(FATAL_ERROR "STARLING_SANITIZE is for builds without CUDA; configure with -DSTARLING_CUDA=off")
  endif()
  add_compile_options(-fsanitize=${STARLING_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STARLING_SANITIZE})
endif()
