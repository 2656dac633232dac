# Test programs: one tiny C program per kernel feature, and the MPI programs of bench/.
find_package(Threads REQUIRED)
file(GLOB FEATURES CONFIGURE_DEPENDS ${ROOT}/process-image/src/test/c/*.c)
foreach(source ${FEATURES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(feature_${name} ${source})
  set_target_properties(feature_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/features)
  target_compile_options(feature_${name} PRIVATE -O2 -pthread)
  target_link_libraries(feature_${name} PRIVATE Threads::Threads rt m)
endforeach()

# What stands in for NVIDIA's driver library in tests (system-test/src/test/cuda).
add_library(standin_cuda SHARED ${ROOT}/system-test/src/test/cuda/standin_cuda.c
  ${ROOT}/system-test/src/test/cuda/standin_checkpoint.c)
set_target_properties(standin_cuda PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/standin-cuda)
target_compile_options(standin_cuda PRIVATE -O2 -fvisibility=default)
target_link_libraries(standin_cuda PRIVATE Threads::Threads dl)

# The programs that run under MPI are ordinary ones: built by the MPI's own compiler wrapper, knowing nothing of us.
find_wrapper(MPICC mpi.h mpicc.mpich mpicc)
file(GLOB MPI_PROGRAMS CONFIGURE_DEPENDS ${ROOT}/bench/src/main/c/*.c ${ROOT}/system-test/src/test/c/*.c)
file(GLOB MPI_HEADERS CONFIGURE_DEPENDS ${ROOT}/bench/src/main/c/*.h)
if(MPICC)
  set(MPI_OUTPUTS)
  foreach(source ${MPI_PROGRAMS})
    get_filename_component(name ${source} NAME_WE)
    set(output ${CMAKE_BINARY_DIR}/programs/${name})
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/programs
      COMMAND ${MPICC} -O2 -g -Wall -Wextra -o ${output} ${source} -lm -Wl,--as-needed -libverbs
      DEPENDS ${source} ${MPI_HEADERS} VERBATIM)
    list(APPEND MPI_OUTPUTS ${output})
  endforeach()
  # One of them also as a plugin (as_plugin.c), for bench/overhead.
  set(plugin ${CMAKE_BINARY_DIR}/programs/ud_message_rate.so)
  add_custom_command(OUTPUT ${plugin}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/programs
    COMMAND ${CMAKE_C_COMPILER} -O2 -g -Wall -Wextra -fPIC -shared -o ${plugin}
      ${ROOT}/bench/src/main/c/ud_message_rate.c -libverbs
    DEPENDS ${ROOT}/bench/src/main/c/ud_message_rate.c VERBATIM)
  list(APPEND MPI_OUTPUTS ${plugin})
  add_custom_target(mpi_programs ALL DEPENDS ${MPI_OUTPUTS})

  # The same work under another launcher (docs/user/running.md); its name is Debian's, beside MPICH.
  find_wrapper(OPENMPI_CC mpi.h mpicc.openmpi)
  if(OPENMPI_CC)
    set(OPENMPI_OUTPUTS)
    foreach(source ${ROOT}/bench/src/main/c/stencil_cg.c ${ROOT}/bench/src/main/c/mpi_stress.c
        ${ROOT}/system-test/src/test/c/overrun.c ${ROOT}/system-test/src/test/c/endings.c)
      get_filename_component(name ${source} NAME_WE)
      set(output ${CMAKE_BINARY_DIR}/programs/openmpi/${name})
      add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/programs/openmpi
        COMMAND ${OPENMPI_CC} -O2 -g -Wall -Wextra -o ${output} ${source} -lm
        DEPENDS ${source} ${MPI_HEADERS} VERBATIM)
      list(APPEND OPENMPI_OUTPUTS ${output})
    endforeach()
    add_custom_target(openmpi_programs ALL DEPENDS ${OPENMPI_OUTPUTS})
  endif()

  # OpenSHMEM's compiler wrapper is one of Open MPI's.
  find_wrapper(OSHCC shmem.h oshcc)
  if(OSHCC)
    set(source ${ROOT}/bench/src/main/shmem/symmetric_heap.c)
    set(output ${CMAKE_BINARY_DIR}/programs/openmpi/symmetric_heap)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/programs/openmpi
      COMMAND ${OSHCC} -O2 -g -Wall -Wextra -o ${output} ${source}
      DEPENDS ${source} VERBATIM)
    add_custom_target(shmem_programs ALL DEPENDS ${output})
  endif()

  # OpenCoarrays over each MPI. Its own wrappers (caf.mpich, caf.openmpi) name the library before the program that needs
  # it, and take the libmpi.so of Debian's alternatives, which is the other MPI's: so the MPI's compiler wrapper, and
  # its library by its place.
  set(source ${ROOT}/bench/src/main/fortran/coarray_ring.f90)
  foreach(mpi mpich openmpi)
    find_program(FORTRAN_${mpi} NAMES mpifort.${mpi})
    find_library(CAF_${mpi} NAMES caf_${mpi})
    # The wrapper may have no compiler to call (Spack's takes itself away from who did not ask for Fortran).
    if(FORTRAN_${mpi} AND CAF_${mpi})
      execute_process(COMMAND ${FORTRAN_${mpi}} -fsyntax-only -fcoarray=lib ${source}
        WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
        RESULT_VARIABLE no_fortran OUTPUT_QUIET ERROR_QUIET)
    endif()
    if(FORTRAN_${mpi} AND CAF_${mpi} AND NOT no_fortran)
      string(REGEX REPLACE "^mpich$" "" folder ${mpi})
      set(output ${CMAKE_BINARY_DIR}/programs/${folder}/coarray_ring)
      get_filename_component(place ${CAF_${mpi}} DIRECTORY)
      add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/programs/${folder}
        COMMAND ${FORTRAN_${mpi}} -O2 -g -Wall -fcoarray=lib -o ${output} ${source} -L${place}/openmpi/lib ${CAF_${mpi}}
        DEPENDS ${source} VERBATIM)
      add_custom_target(coarray_programs_${mpi} ALL DEPENDS ${output})
    elseif(NOT FORTRAN_${mpi})
      left_out(mpifort.${mpi})
    endif()
  endforeach()
else()
  message(STATUS "no mpicc: the MPI programs of bench/ are not built (Debian: apt install mpich)")
endif()
