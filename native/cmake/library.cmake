# libudckpt.so: preloaded into every rank. Its parts live in the folders of what they do.
enable_language(ASM)

# Folders and their floors: native/layout/floors.
set(LIBRARY_FOLDERS)
foreach(folder common agent-client gate device soft-fabric real-device session interposer)
  list(APPEND LIBRARY_FOLDERS ${ROOT}/native/src/main/c/${folder}/*.c)
endforeach()
file(GLOB LIBRARY_SOURCES CONFIGURE_DEPENDS
  ${LIBRARY_FOLDERS}
  ${ROOT}/native/src/main/c/interposer/*.S
  ${ROOT}/ud-virt/src/main/c/*/*.c
  ${ROOT}/rc-virt/src/main/c/*/*.c
  ${ROOT}/address-map/src/main/c/*.c
  ${ROOT}/process-image/src/main/c/parasite*.S
  ${ROOT}/process-image/src/main/c/snapshot_*.c)
# A sanitizer's runtime calls dlsym(3) before it is ready for any code that it checks.
set(NOT_SANITIZED "/interposer_(lookup|open|rebind|loader_entry)[.]")
if(UDCKPT_SANITIZE)
  list(FILTER LIBRARY_SOURCES EXCLUDE REGEX ${NOT_SANITIZED})
else()
  list(FILTER LIBRARY_SOURCES EXCLUDE REGEX "/interposer_plain_loader[.]")
endif()

add_library(udckpt SHARED ${LIBRARY_SOURCES})
add_dependencies(udckpt layout)
target_compile_options(udckpt PRIVATE $<$<COMPILE_LANGUAGE:C>:-O2 -fno-semantic-interposition>)
# In the paths of data each instruction counts: no pairs of members gathered in vector registers, and memory is compared
# with 0 where it is (what GCC 12 makes of that otherwise is a load and a test).
set_source_files_properties(
  ${ROOT}/ud-virt/src/main/c/data-path/generic_send.c
  ${ROOT}/ud-virt/src/main/c/data-path/generic_receive.c
  ${ROOT}/ud-virt/src/main/c/data-path/generic_poll.c
  ${ROOT}/rc-virt/src/main/c/transport/rc_send.c
  PROPERTIES COMPILE_OPTIONS "$<$<C_COMPILER_ID:GNU>:-fno-tree-slp-vectorize;-fno-peephole2>")
# What runs in a snapshot: a sanitizer's own state is there that of a process stopped anywhere.
file(GLOB SNAPSHOT_SOURCES CONFIGURE_DEPENDS ${ROOT}/process-image/src/main/c/snapshot_*.c)
set_source_files_properties(${SNAPSHOT_SOURCES} PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
set(LIBRARY_EXPORTS ${ROOT}/native/src/main/c/interposer/interposer.map)
target_link_options(udckpt PRIVATE -Wl,--version-script=${LIBRARY_EXPORTS} -Wl,-z,now)
if(NOT UDCKPT_SANITIZE) # the program brings the sanitizer's functions
  target_link_options(udckpt PRIVATE -Wl,-z,defs)
  # That the rest needs nothing of what a build with sanitizers leaves out is seen in each build.
  add_library(library_without_loader MODULE ${ROOT}/native/src/main/c/interposer/interposer_plain_loader.c
    $<FILTER:$<TARGET_OBJECTS:udckpt>,EXCLUDE,${NOT_SANITIZED}>)
  add_dependencies(library_without_loader layout)
  target_link_options(library_without_loader PRIVATE -Wl,-z,defs)
  target_link_libraries(library_without_loader PRIVATE $<TARGET_PROPERTY:udckpt,LINK_LIBRARIES>)
endif()
set_target_properties(udckpt PROPERTIES LINK_DEPENDS ${LIBRARY_EXPORTS})
# Of libcrypto SHA-256 and AES alone are taken in, and kept to ourselves: a program may have another version of it.
target_link_libraries(udckpt PRIVATE pthread dl -l:libcrypto.a)
target_link_options(udckpt PRIVATE -Wl,--exclude-libs,libcrypto.a)
link_with_oldest_libc(udckpt)

# The fabric's test programs, each a set of named cases (see fabric.h). They are
# linked with the real libibverbs, whose functions the preloaded library takes over.
set(FABRIC_TEST ${ROOT}/native/src/test/c/soft-fabric)
set(INTERPOSER_TEST ${ROOT}/native/src/test/c/interposer)
set(FABRIC_PROGRAMS send receive state events threads rules extended multicast faults rc rc_errors rc_threads
  uc xrc windows order ports trouble refused)
if(NOT UDCKPT_SANITIZE) # it asks for an old version of a symbol, which only a preloaded library satisfies
  list(APPEND FABRIC_PROGRAMS address)
endif()
foreach(program ${FABRIC_PROGRAMS})
  add_executable(fabric_${program} ${FABRIC_TEST}/fabric_${program}.c ${FABRIC_TEST}/fabric.c
    ${FABRIC_TEST}/fabric_connect.c ${FABRIC_TEST}/fabric_at.c)
  link_verbs(fabric_${program})
  set_target_properties(fabric_${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endforeach()
target_sources(fabric_xrc PRIVATE ${FABRIC_TEST}/fabric_xrc_ends.c)
file(GLOB SOFT_SOURCES CONFIGURE_DEPENDS ${ROOT}/native/src/main/c/soft-fabric/soft_*.c)
add_executable(fabric_forget ${FABRIC_TEST}/fabric_forget.c ${FABRIC_TEST}/fabric.c ${SOFT_SOURCES}
  ${ROOT}/native/src/main/c/common/environment.c)
target_link_libraries(fabric_forget PRIVATE ibverbs pthread crypto)
set_target_properties(fabric_forget PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

add_executable(fabric_tags ${FABRIC_TEST}/fabric_tags.c ${FABRIC_TEST}/fabric.c
  ${ROOT}/native/src/main/c/soft-fabric/soft_mac.c ${ROOT}/native/src/main/c/soft-fabric/soft_ghash.c)
link_verbs(fabric_tags)
add_executable(fabric_mutations ${FABRIC_TEST}/fabric_mutations.c ${FABRIC_TEST}/fabric.c
  ${FABRIC_TEST}/fabric_connect.c ${FABRIC_TEST}/fabric_packets.c ${FABRIC_TEST}/fabric_xrc_ends.c)
link_verbs(fabric_mutations)
target_link_libraries(fabric_tags PRIVATE crypto)
set_target_properties(fabric_tags fabric_mutations PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

find_wrapper(MPICC mpi.h mpicc.mpich mpicc)
if(MPICC AND NOT UDCKPT_SANITIZE)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/tests/fabric_mpi
    COMMAND ${MPICC} -O2 -Wall -Wextra -Wno-unused-parameter -o ${CMAKE_BINARY_DIR}/tests/fabric_mpi
      ${FABRIC_TEST}/fabric_mpi.c
    DEPENDS ${FABRIC_TEST}/fabric_mpi.c VERBATIM)
  add_custom_target(fabric_mpi ALL DEPENDS ${CMAKE_BINARY_DIR}/tests/fabric_mpi)
endif()

add_executable(snapshot_tags ${ROOT}/native/src/test/c/snapshot_tags.c
  ${ROOT}/process-image/src/main/c/snapshot_tag.c ${ROOT}/process-image/src/main/c/snapshot_ghash.c)
add_dependencies(snapshot_tags layout)
target_compile_options(snapshot_tags PRIVATE -O2)
target_include_directories(snapshot_tags PRIVATE ${ROOT}/process-image/src/main/c)
target_link_libraries(snapshot_tags PRIVATE crypto)
set_target_properties(snapshot_tags PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

# of a part of the library that needs a real device otherwise
add_executable(device_regions ${ROOT}/native/src/test/c/device_regions.c
    ${ROOT}/native/src/main/c/real-device/real_regions.c)
add_dependencies(device_regions layout)
target_compile_options(device_regions PRIVATE -O2)
target_include_directories(device_regions PRIVATE ${ROOT}/native/src/main/c)
set_target_properties(device_regions PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

if(NOT UDCKPT_SANITIZE) # it counts allocations by a malloc of its own
  add_executable(libc_calls ${INTERPOSER_TEST}/libc_calls.c ${INTERPOSER_TEST}/libc_calls_arguments.c
    ${INTERPOSER_TEST}/libc_calls_drive.c ${INTERPOSER_TEST}/libc_calls_ipc.c)
  target_compile_options(libc_calls PRIVATE -O2)
  target_link_libraries(libc_calls PRIVATE pthread)
  add_library(taken_names_plugin SHARED ${INTERPOSER_TEST}/taken_names_plugin.c)
  target_compile_options(taken_names_plugin PRIVATE -fvisibility=default -fno-builtin -fsemantic-interposition)
  add_executable(taken_names ${INTERPOSER_TEST}/taken_names.c)
  target_link_libraries(taken_names PRIVATE dl)
  set_target_properties(libc_calls taken_names taken_names_plugin PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()

add_executable(soft_mac_test ${FABRIC_TEST}/soft_mac_test.c
  ${ROOT}/native/src/main/c/soft-fabric/soft_mac.c ${ROOT}/native/src/main/c/soft-fabric/soft_ghash.c)
target_compile_options(soft_mac_test PRIVATE -O2)
target_link_libraries(soft_mac_test PRIVATE crypto)
set_target_properties(soft_mac_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

if(NOT UDCKPT_SANITIZE) # RTLD_DEEPBIND and sanitizers exclude each other
  # A client that is not linked with libibverbs, and its plugin, which is; it finds the plugin beside itself.
  add_library(found_plugin SHARED ${INTERPOSER_TEST}/found_plugin.c)
  target_link_libraries(found_plugin PRIVATE ibverbs)
  add_library(found_plugin_now SHARED ${INTERPOSER_TEST}/found_plugin.c)
  target_link_libraries(found_plugin_now PRIVATE ibverbs)
  target_link_options(found_plugin_now PRIVATE -Wl,-z,now -Wl,-z,relro)
  add_library(found_newer SHARED ${INTERPOSER_TEST}/found_newer.c)
  set_target_properties(found_newer PROPERTIES NO_SONAME ON LINK_OPTIONS -Wl,-soname,libibverbs.so.1)
  add_executable(found_client ${INTERPOSER_TEST}/found_client.c ${INTERPOSER_TEST}/found_exchange.c)
  target_link_libraries(found_client PRIVATE dl)
  set_target_properties(found_plugin found_plugin_now found_newer found_client PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
    BUILD_RPATH ${CMAKE_BINARY_DIR}/tests)
endif()
