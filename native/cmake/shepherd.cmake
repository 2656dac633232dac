# The ranks' parent: static, so that it runs alike inside the namespaces of a restored job.
add_executable(udckpt-shepherd
  src/main/c/shepherd_main.c src/main/c/shepherd_agent.c src/main/c/shepherd_children.c src/main/c/shepherd_spawn.c
  src/main/c/shepherd_pmi.c src/main/c/shepherd_alone.c src/main/c/shepherd_namespace.c src/main/c/shepherd_proc.c src/main/c/shepherd_ipc.c src/main/c/shepherd_inherit.c src/main/c/shepherd_lazy.c)
target_compile_definitions(udckpt-shepherd PRIVATE _GNU_SOURCE)
target_link_options(udckpt-shepherd PRIVATE -static)
# Stays beside the lead of a job on several hosts, and starts it again when it is lost.
add_executable(udckpt-guard src/main/c/guard_main.c)
target_compile_definitions(udckpt-guard PRIVATE _GNU_SOURCE)
target_link_options(udckpt-guard PRIVATE -static)
