# What a package holds runs with each C library from this version on, wherever it was built (OldestLibcTest).
set(OLDEST_LIBC 2.28)
set(OLDEST_LIBC_FILES ${CMAKE_BINARY_DIR}/oldest-libc)
# A sanitizer's runtime is linked with this machine's.
if(NOT UDCKPT_SANITIZE AND NOT UDCKPT_FUZZ)
  execute_process(RESULT_VARIABLE failed
    COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/oldest-libc.sh ${OLDEST_LIBC} ${CMAKE_C_COMPILER} ${OLDEST_LIBC_FILES})
  if(failed)
    message(FATAL_ERROR "no stand-in for the C library ${OLDEST_LIBC} could be made in ${OLDEST_LIBC_FILES}")
  endif()
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/oldest-libc.sh)

function(link_with_oldest_libc target)
  if(NOT UDCKPT_SANITIZE AND NOT UDCKPT_FUZZ)
    target_link_options(${target} PRIVATE -L${OLDEST_LIBC_FILES})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${OLDEST_LIBC_FILES}/libc.so)
    target_sources(${target} PRIVATE ${ROOT}/native/src/main/c/oldest-libc/old_libc.c)
    # What other libraries need they get at run time, from this machine's.
    target_link_options(${target} PRIVATE -Wl,--allow-shlib-undefined)
  endif()
endfunction()
