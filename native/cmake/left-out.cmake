# What is not built since something of the machine's is missing: the build begins again when one of these is there
# (scripts/build.sh). Absolute paths, or commands.
set_property(GLOBAL PROPERTY LEFT_OUT "")
function(left_out)
  set_property(GLOBAL APPEND PROPERTY LEFT_OUT ${ARGV})
endfunction()
function(write_left_out)
  get_property(names GLOBAL PROPERTY LEFT_OUT)
  list(REMOVE_DUPLICATES names)
  list(TRANSFORM names APPEND "\n")
  list(JOIN names "" lines)
  file(WRITE ${CMAKE_BINARY_DIR}/left-out "${lines}")
endfunction()
