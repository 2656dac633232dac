# A server that keeps data in memory and on disk, and its clients. $1: clients.py, $2: the file that ends it, $3: a
# directory, $4: a port.
mkdir -p "$3"
redis-server --port "$4" --bind 127.0.0.1 --dir "$3" --appendonly yes --save '' --logfile "$3/log" --io-threads 2 &
until redis-cli -p "$4" ping >"$3/ping" 2>&1; do sleep 0.1; done
python3 "$1" redis "$4" "$2"
code=$?
redis-cli -p "$4" shutdown >"$3/shutdown" 2>&1
wait
exit $code
