# What another user of the host runs in the tests of attacks (docs/contributing/testing.md): one small C program for
# each way.
find_package(Threads REQUIRED)
file(GLOB ATTACKS CONFIGURE_DEPENDS ${ROOT}/linux/src/test/c/*.c)
foreach(source ${ATTACKS})
  get_filename_component(name ${source} NAME_WE)
  add_executable(attack_${name} ${source})
  set_target_properties(attack_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/attacks)
  target_compile_options(attack_${name} PRIVATE -O2 -Wall -Wextra)
  target_link_libraries(attack_${name} PRIVATE Threads::Threads)
endforeach()
