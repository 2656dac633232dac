# A virtual X server, and an OpenGL client of it that software draws for. $1: the client, $2: the file that ends it, $3:
# where the server says its number.
rm -f "$3"
Xvfb -displayfd 3 -screen 0 320x240x24 -nolisten tcp -noreset 3>"$3" 2>"$3.err" &
until [ -s "$3" ]; do sleep 0.05; done
DISPLAY=:$(cat "$3") LIBGL_ALWAYS_SOFTWARE=1 "$1" "$2"
code=$?
kill $!
exit $code
