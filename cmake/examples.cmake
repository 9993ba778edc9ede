# Every source in examples/ is a program of its own, and a test: it must run and return 0.

file(GLOB starling_example_sources CONFIGURE_DEPENDS examples/*.cpp)
foreach(source IN LISTS starling_example_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE starling starling_stencil)
  starling_build_flags(example_${name})
  starling_kernels(example_${name})
  add_test(NAME example.${name} COMMAND example_${name})
  set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 120)
endforeach()
