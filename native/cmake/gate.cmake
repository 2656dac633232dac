# The gate's stress test, linked with the gate alone: its own instructions are what is tested.
add_executable(gate_stress ${ROOT}/native/src/test/c/gate/gate_stress.c
  src/main/c/gate/gate_entry.c src/main/c/gate/gate_close.c src/main/c/gate/gate_grace.c
  ${ROOT}/address-map/src/main/c/counters.c ${ROOT}/address-map/src/main/c/shared_file.c)
add_dependencies(gate_stress layout)
target_compile_options(gate_stress PRIVATE -O2)
target_link_libraries(gate_stress PRIVATE pthread)
set_target_properties(gate_stress PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
