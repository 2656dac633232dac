# Rank 0 is ucx_perftest's server, rank 1 its client; they find each other on the loopback, at a port that the run's
# directory decides.
port=$((20000 + $(pwd | cksum | cut -d ' ' -f 1) % 12000))
if [ "${PMI_RANK-${OMPI_COMM_WORLD_RANK}}" = 0 ]; then exec ucx_perftest -p $port "$@" >/dev/null; fi
tries=0
until grep -qE ": [0-9A-F]+:$(printf %04X $port) [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6; do
    tries=$((tries + 1))
    [ $tries -lt 1500 ] || { echo "no server listens at port $port" >&2; exit 1; }
    sleep 0.02
done
exec ucx_perftest -p $port "$@" 127.0.0.1
