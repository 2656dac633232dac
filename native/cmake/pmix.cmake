# udckpt-pmix: the launcher of Open MPI ranks of jobs on several hosts (docs/user/several-hosts.md, Open MPI). It is looked for at run time: where libpmix's
# headers are missing (Debian: libpmix-dev, which keeps them out of the default path), all else is built without it.
find_path(PMIX_INCLUDE pmix_server.h HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include)
find_library(PMIX_LIBRARY pmix)
if(PMIX_INCLUDE AND PMIX_LIBRARY)
  find_package(Threads REQUIRED)
  add_executable(udckpt-pmix
    src/main/c/pmix_main.c src/main/c/pmix_layout.c src/main/c/pmix_server.c src/main/c/pmix_fence.c src/main/c/pmix_pmi1.c src/main/c/pmix_ranks.c)
  target_include_directories(udckpt-pmix SYSTEM PRIVATE ${PMIX_INCLUDE})
  target_compile_definitions(udckpt-pmix PRIVATE _GNU_SOURCE)
  target_link_libraries(udckpt-pmix PRIVATE ${PMIX_LIBRARY} Threads::Threads)
else()
  message(STATUS "no pmix_server.h: udckpt-pmix is not built (Debian: apt install libpmix-dev)")
  if(NOT PMIX_INCLUDE)
    left_out(/usr/include/pmix_server.h /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include/pmix_server.h)
  else()
    left_out(/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libpmix.so)
  endif()
endif()
