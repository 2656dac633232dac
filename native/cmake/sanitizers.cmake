# -DUDCKPT_SANITIZE=thread, or address,undefined: the library and its test programs, checked while they run
# (docs/contributing/testing.md). A sanitizer's runtime has to come before everything else, which LD_PRELOAD cannot
# give it, so that the test programs are linked with the library instead of being given it at run time.
set(UDCKPT_SANITIZE "" CACHE STRING "sanitizers for the library and its test programs")
if(UDCKPT_SANITIZE)
  add_compile_options(-fsanitize=${UDCKPT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${UDCKPT_SANITIZE})
  if(UDCKPT_SANITIZE MATCHES "thread" AND CMAKE_C_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan) # it does not follow fences, and may report too much; what it reports is looked at
  endif()
endif()

# -DUDCKPT_FUZZ=ON, with clang: the targets of fuzz.cmake, which are told of each branch that is taken.
option(UDCKPT_FUZZ "fuzz targets, by libFuzzer" OFF)
if(UDCKPT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link -Wno-ignored-attributes)
endif()

# Makes a test program that knows verbs only; in an ordinary build the library is preloaded into it.
function(link_verbs program)
  if(UDCKPT_SANITIZE)
    target_link_options(${program} PRIVATE -Wl,--no-as-needed)
    target_link_libraries(${program} PRIVATE udckpt)
  endif()
  target_link_libraries(${program} PRIVATE ibverbs pthread)
endfunction()
