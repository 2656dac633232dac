# Runs one of our Java programs in place of this shell, so that its pid is ours and signals reach it.

# Where things are in the source tree; an installation has them elsewhere (installed.sh).
native=$root/native/target/cmake
more_classes=:$root/bench/target/classes

# What follows sets variables: a subshell that prints would be one more process, for which a restart waits.

# The flags that the code needs are defined once, in the root pom.
read_needed_flags() {
    IFS= read -r -d '' needed <"$root/pom.xml" || true # at the end of the file
    needed=${needed#*<udckpt.jvm>}
    needed=${needed%%</udckpt.jvm>*}
}

needed_flags() {
    read_needed_flags
    # shellcheck disable=SC2086 # words, on a line
    echo $needed
}

# Serial collector: the heap is small (page contents stay off it) and the job wants the cores; it
# also starts fastest. No hsperfdata file: nobody reads it, and it costs an mmap'ed file in /tmp.
# Short commands stop at the first compiler: they end before the second one would pay. So does a restart, where the
# second one took as much processor time before the job's first instruction as everything else; what an agent does
# afterwards is done by the kernel and by C libraries. There the first one gets no list of what training found hot
# either.
#
# Constructors and accessors of the records that tables are made of are called by the JVM itself: a method handle for
# each, which the JDK makes otherwise, costs a young JVM half a millisecond, 165 of them before a restarted job's first
# instruction, and is faster only from some 100,000 rows on.
#
# Picocli looks for a class of Groovy's, in each jar; the JDK for another provider of sockets, and takes its own.
set_java_flags() {
    read_needed_flags
    # shellcheck disable=SC2206 # words
    java_options=($needed -XX:+UseSerialGC -XX:-UsePerfData -Djdk.reflect.useNativeAccessorOnly=true
        -Dpicocli.disable.closures=true -Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.EPollSelectorProvider)
    case $1 in
        # A young generation by the memory's size (a hundred megabytes here) would only be more to touch beside the job.
        run | batch | agent)
            java_options+=(-Xmn32m -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-AOTReplayTraining)
            ;;
        # Its first collection comes behind the first instruction. Of what is called some hundred times until then most
        # is not called again; with more than 2 the first checkpoints would stop the job longer.
        restart)
            java_options+=(-Xmn48m -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=2
                -XX:+UnlockDiagnosticVMOptions -XX:-AOTReplayTraining)
            ;;
        demo | verify | diff | export-core) ;; # long where images are large
        # What a short command would have compiled costs a quarter of its processor time.
        *)
            java_options+=(-XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=10 -XX:+UnlockDiagnosticVMOptions
                -XX:-AOTReplayTraining)
            ;;
    esac
}

java_flags() {
    set_java_flags "$1"
    printf '%s ' "${java_options[@]}"
}

# In one order everywhere, for the archive of loaded classes is only good for the class path that it was made with.
set_class_path() {
    local IFS=: jars=("$root"/cli/target/*.jar "$root"/cli/target/lib/*.jar)
    jars_path=${jars[*]}
}

class_path() {
    set_class_path
    printf '%s' "$jars_path"
}

# Loaded and linked classes from a file (archive.sh). The JVM checks that it fits these jars and this JDK, and does
# without it otherwise.
archive=$root/target/classes.aot
restart_archive=$root/target/restart.aot # has less in it: a JVM takes 10 us for each class, needed or not
# Mapped where it was made for: to move it, each pointer in it is written once more, before the first line of ours.
# set_archive_flags VERB
set_archive_flags() {
    local file=$archive
    [ "$1" != restart ] || [ ! -f "$restart_archive" ] || file=$restart_archive
    archive_options=()
    [ ! -f "$file" ] || archive_options=("-XX:AOTCache=$file" -Xlog:aot=off -XX:+UnlockDiagnosticVMOptions
        -XX:ArchiveRelocationMode=0)
}

# archive_flags VERB
archive_flags() {
    set_archive_flags "$1"
    printf '%s ' ${archive_options[@]+"${archive_options[@]}"}
}

# A JVM raises its soft limit of open files to the hard one; the ranks get the shell's (shepherd_inherit.c).
remember_limits() {
    [ -n "${UDCKPT_SHELL_OPEN_FILES-}" ] || UDCKPT_SHELL_OPEN_FILES=$(ulimit -Sn) # the demonstration runs us again
    export UDCKPT_SHELL_OPEN_FILES
}

# In a locale like C the JDK turns each byte of an argument, variable or path that is not ASCII into a
# question mark; ranks get the user's own LC_ALL back (RankEnvironment).
set_locale() {
    [ -z "${UDCKPT_LC_SET-}" ] || return 0 # the demonstration runs us again
    if [ -n "${LC_ALL+set}" ]; then export UDCKPT_LC_ALL=$LC_ALL; fi
    export LC_ALL=C.UTF-8 UDCKPT_LC_SET=1
}

# SIGUSR2 belongs to the job (Signals passes it on), but a JVM takes it for stopping its own threads, as its profiler
# does, and the ranks would get it. 16 is SIGSTKFLT, which nothing else uses on x86; the ranks do not get this variable
# (RankEnvironment).
set_thread_signal() { export _JAVA_SR_SIGNUM=${_JAVA_SR_SIGNUM:-16}; }

# run_java VERB MAIN_CLASS ARGUMENT...
run_java() {
    local verb=$1 class=$2
    shift 2
    remember_limits
    set_locale
    set_thread_signal
    set_java_flags "$verb"
    set_archive_flags "$verb"
    set_class_path
    exec "$java_home/bin/java" "${java_options[@]}" ${archive_options[@]+"${archive_options[@]}"} \
        -Dudckpt.command="${self-$root/udckpt}" -Dudckpt.root="$root" -Dudckpt.native="$native" \
        -cp "$jars_path$more_classes" "$class" "$@"
}
