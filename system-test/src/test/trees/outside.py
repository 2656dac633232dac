"""Answers what comes over TCP (argv[1]: port) and a unix socket (argv[2]: path) from outside, until both have ended."""
import select
import socket
import sys

tcp = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
unix = socket.socket(socket.AF_UNIX)
unix.connect(sys.argv[2])
print("started", flush=True)
live = {tcp: b"", unix: b""}
while live:
    for one in select.select(list(live), [], [])[0]:
        got = one.recv(100)
        live[one] += got
        if got:
            one.sendall(got.upper())
        else:
            try:
                for _ in range(2):
                    one.sendall(b"late")
                end = "none"
            except BrokenPipeError:
                end = "broken pipe"
            print("ended", one.family.name, live.pop(one).decode(), end, flush=True)
print("result done")
