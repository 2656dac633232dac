# libudckpt-agent.so: what the agent's JVM needs C for.
add_library(udckpt-agent SHARED src/main/c/shepherd/agent_quit.c src/main/c/shepherd/agent_calls.c
  src/main/c/shepherd/agent_native.c src/main/c/shepherd/agent_planes.c)
set_source_files_properties(src/main/c/shepherd/agent_planes.c PROPERTIES COMPILE_OPTIONS -O3) # registers, no arrays
target_compile_definitions(udckpt-agent PRIVATE _GNU_SOURCE)
target_link_options(udckpt-agent PRIVATE -Wl,-z,defs)
link_with_oldest_libc(udckpt-agent)
