# Rank 0 is ucx_perftest's server, rank 1 its client; they find each other on the loopback, at a port that the run's
# directory decides.
port=$((20000 + $(pwd | cksum | cut -d ' ' -f 1) % 12000))
# One that was built with MPI asks for that, unless it is told not to (Debian 13).
without_mpi=
! ucx_perftest -h 2>&1 | grep -q -e '-P <0|1>' || without_mpi='-P 0'
# shellcheck disable=SC2086 # words
if [ "${PMI_RANK-${OMPI_COMM_WORLD_RANK}}" = 0 ]; then exec ucx_perftest $without_mpi -p $port "$@" >/dev/null; fi
tries=0
until grep -qE ": [0-9A-F]+:$(printf %04X $port) [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6; do
    tries=$((tries + 1))
    [ $tries -lt 1500 ] || { echo "no server listens at port $port" >&2; exit 1; }
    sleep 0.02
done
# shellcheck disable=SC2086 # words
exec ucx_perftest $without_mpi -p $port "$@" 127.0.0.1
