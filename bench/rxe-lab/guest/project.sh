# The built project at the path that it has outside, so that an image taken in here finds its files out there; in
# memory, for programs are mapped from it. The JVM is told what an emulated processor is good at.
. /lab/environment
export JAVA_HOME UDCKPT_NO_BUILD=1 UDCKPT_KEY_FILE=/lab/key
export JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 -XX:UseAVX=0"
# Sessions as groups of the scheduler would give the ranks, which poll, as much of the only processor as an agent.
sysctl -qw kernel.sched_autogroup_enabled=0
mkdir -p "$root"
mount -t tmpfs -o size=256m project "$root"
(cd /project && tar --format=posix -cf - udckpt pom.xml scripts cli/target/*.jar cli/target/lib \
    bench/target/classes bench/rxe-lab target/classes.aot native/target/cmake/libudckpt.so \
    native/target/cmake/libudckpt-agent.so native/target/cmake/udckpt-shepherd native/target/cmake/programs \
    native/target/cmake/tests/found_client native/target/cmake/tests/libfound_plugin.so) | tar -C "$root" -xf -
PATH=$root:$PATH
