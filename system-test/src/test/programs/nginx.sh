# A server of root whose workers are another user's, and its clients. $1: clients.py, $2: the file that ends it, $3: a
# directory, $4: a port.
mkdir -p "$3/page"
chmod o+x "$(dirname "$3")" # its workers have to come there
i=0
while [ $i -lt 2000 ]; do
    echo "line $i of a page that is sent again and again"
    i=$((i + 1))
done >"$3/page/page.html"
cat >"$3/nginx.conf" <<END
daemon off;
user www-data;
worker_processes 2;
pid $3/pid;
error_log $3/error.log;
events { worker_connections 64; }
http {
    access_log $3/access.log;
    client_body_temp_path $3/body; proxy_temp_path $3/proxy; fastcgi_temp_path $3/fastcgi;
    uwsgi_temp_path $3/uwsgi; scgi_temp_path $3/scgi;
    keepalive_requests 1000000;
    server { listen 127.0.0.1:$4; root $3/page; }
}
END
/usr/sbin/nginx -c "$3/nginx.conf" -e "$3/error.log" &
server=$!
until [ -s "$3/pid" ]; do sleep 0.1; done
python3 "$1" http "$4" "$2"
code=$?
for worker in $(cat "/proc/$server/task/$server/children"); do
    [ "$(stat -c %U "/proc/$worker")" = www-data ] &&
        [ "$(awk '/^CapEff:/ { print $2 }' "/proc/$worker/status")" = 0000000000000000 ] || code=1
done
kill -QUIT $server
wait
exit $code
