# Every source below bench/ is a benchmark of its own: bench/<folder>/<name>.cpp becomes bench_<folder>_<name>. Except
# the rivals, which need other libraries.

file(GLOB_RECURSE starling_bench_sources CONFIGURE_DEPENDS bench/*.cpp)
list(FILTER starling_bench_sources EXCLUDE REGEX "/rivals[^/]*\\.cpp$")
foreach(source IN LISTS starling_bench_sources)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/bench ${source})
  string(REGEX REPLACE "\\.cpp$" "" name ${name})
  string(REPLACE "/" "_" name bench_${name})
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE bench)
  if(name MATCHES "^bench_communication_")
    target_link_libraries(${name} PRIVATE starling starling_comm)
  elseif(name MATCHES "^bench_gio_")
    target_link_libraries(${name} PRIVATE starling starling_gio)
  else()
    target_link_libraries(${name} PRIVATE starling starling_cg starling_stencil)
  endif()
  starling_build_flags(${name})
  # Of network cards, on machines of several hosts.
  if(name MATCHES "^bench_gio_")
    starling_kernels(${name} ${source} NETWORK)
  else()
    starling_kernels(${name})
  endif()
endforeach()

include(cmake/rivals.cmake)
