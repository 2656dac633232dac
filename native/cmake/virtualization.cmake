# Test programs of the address map and of UD virtualization.
add_executable(table_lookup ${ROOT}/address-map/src/test/c/table_lookup.c
  ${ROOT}/address-map/src/main/c/address_table.c ${ROOT}/address-map/src/main/c/shared_file.c)
add_dependencies(table_lookup layout)
add_executable(table_cost ${ROOT}/address-map/src/test/c/table_cost.c
  ${ROOT}/address-map/src/main/c/address_table.c ${ROOT}/address-map/src/main/c/shared_file.c)
add_dependencies(table_cost layout)
target_compile_options(table_cost PRIVATE -O2)
add_executable(ud_client ${ROOT}/ud-virt/src/test/c/ud_client.c ${ROOT}/ud-virt/src/test/c/ud_client_verbs.c)
link_verbs(ud_client)
add_executable(cm_rounds ${ROOT}/rc-virt/src/test/c/cm_rounds.c)
target_link_libraries(cm_rounds PRIVATE rdmacm ibverbs)
add_executable(cm_exits ${ROOT}/rc-virt/src/test/c/cm_exits.c)
target_link_libraries(cm_exits PRIVATE rdmacm ibverbs)
add_executable(cm_burst ${ROOT}/rc-virt/src/test/c/cm_burst.c)
target_link_libraries(cm_burst PRIVATE rdmacm ibverbs)
add_executable(cm_busy ${ROOT}/rc-virt/src/test/c/cm_busy.c)
target_link_libraries(cm_busy PRIVATE rdmacm ibverbs)
add_executable(cm_replaced ${ROOT}/rc-virt/src/test/c/cm_replaced.c)
target_link_libraries(cm_replaced PRIVATE rdmacm ibverbs)
add_executable(cm_parameters ${ROOT}/rc-virt/src/test/c/cm_parameters.c
  ${ROOT}/rc-virt/src/test/c/cm_parameters_lookups.c)
target_link_libraries(cm_parameters PRIVATE rdmacm ibverbs)
add_executable(interrupted_calls ${ROOT}/rc-virt/src/test/c/interrupted_calls.c)
target_link_libraries(interrupted_calls PRIVATE rdmacm ibverbs pthread)
add_executable(polls_once ${ROOT}/ud-virt/src/test/c/polls_once.c)
target_link_libraries(polls_once PRIVATE ibverbs)
add_executable(events_once ${ROOT}/ud-virt/src/test/c/events_once.c)
target_link_libraries(events_once PRIVATE ibverbs)
add_executable(closed_first ${ROOT}/ud-virt/src/test/c/closed_first.c)
target_link_libraries(closed_first PRIVATE ibverbs)
set_target_properties(polls_once events_once closed_first cm_rounds cm_exits cm_burst cm_busy cm_replaced cm_parameters
  interrupted_calls PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/virtualization)

# One end of a reliable connection, told what to do; see rc-virt/src/test.
add_executable(rc_client ${ROOT}/rc-virt/src/test/c/rc_client.c ${FABRIC_TEST}/fabric.c ${FABRIC_TEST}/fabric_connect.c)
target_include_directories(rc_client PRIVATE ${FABRIC_TEST})
link_verbs(rc_client)
set_target_properties(rc_client PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/virtualization)

add_executable(ports_client ${ROOT}/ud-virt/src/test/c/ports_client.c ${FABRIC_TEST}/fabric.c)
target_include_directories(ports_client PRIVATE ${FABRIC_TEST})
link_verbs(ports_client)
set_target_properties(ports_client PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/virtualization)

file(GLOB WALK CONFIGURE_DEPENDS ${ROOT}/ud-virt/src/test/c/verbs_walk*.c)
add_executable(verbs_walk ${WALK})
target_link_libraries(verbs_walk PRIVATE ibverbs)
set_target_properties(table_lookup table_cost ud_client verbs_walk PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/virtualization)

add_executable(grh_forms ${ROOT}/ud-virt/src/test/c/grh_forms.c ${ROOT}/ud-virt/src/main/c/address/virtual_grh.c)
add_dependencies(grh_forms layout)
add_executable(ah_from_wc ${ROOT}/ud-virt/src/test/c/ah_from_wc.c ${ROOT}/ud-virt/src/main/c/address/virtual_grh.c
  ${ROOT}/native/src/main/c/interposer/interposer_address.c)
add_dependencies(ah_from_wc layout)
set_target_properties(grh_forms ah_from_wc PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/virtualization)
