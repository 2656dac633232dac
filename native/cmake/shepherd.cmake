# The ranks' parent: static, so that it runs alike inside the namespaces of a restored job.
file(GLOB SHEPHERD_SOURCES CONFIGURE_DEPENDS src/main/c/shepherd/shepherd_*.c)
add_executable(udckpt-shepherd ${SHEPHERD_SOURCES})
target_compile_definitions(udckpt-shepherd PRIVATE _GNU_SOURCE)
target_link_options(udckpt-shepherd PRIVATE -static)
# Stays beside the lead of a job on several hosts, and starts it again when it is lost.
add_executable(udckpt-guard src/main/c/shepherd/guard_main.c)
target_compile_definitions(udckpt-guard PRIVATE _GNU_SOURCE)
target_link_options(udckpt-guard PRIVATE -static)
