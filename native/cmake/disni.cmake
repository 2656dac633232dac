# libdisni.so: the native half of DiSNI, for Java clients of verbs. It is a client like any other: linked with the real
# libibverbs and librdmacm, whose functions the preloaded library takes over in a job.
get_filename_component(JAVA_BIN ${JAVA} REALPATH)
get_filename_component(JAVA_BIN ${JAVA_BIN} DIRECTORY)
set(JNI_HEADERS ${JAVA_BIN}/../include ${JAVA_BIN}/../include/linux)

file(GLOB DISNI_SOURCES CONFIGURE_DEPENDS ${ROOT}/native/src/main/c/disni/*.c)
add_library(disni SHARED ${DISNI_SOURCES})
target_include_directories(disni PRIVATE ${JNI_HEADERS})
target_compile_options(disni PRIVATE -O2)
target_link_options(disni PRIVATE -Wl,-z,defs)
target_link_libraries(disni PRIVATE ibverbs rdmacm)
link_with_oldest_libc(disni)
