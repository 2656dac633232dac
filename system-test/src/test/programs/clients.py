"""Clients of a server, on connections that stay open. argv: redis or http, the server's port, the file that ends it."""
import hashlib
import http.client
import os
import socket
import sys
import threading
import time

kind, where, finish = sys.argv[1:]
ROUNDS, CLIENTS = 150, 4
sums = [None] * CLIENTS
begun = threading.Barrier(CLIENTS + 1)


def redis(client):
    """INCR on a counter of its own, APPEND to a text, by Redis's own line protocol."""
    connection = socket.create_connection(("127.0.0.1", int(where)))
    lines = connection.makefile("rb")

    def ask(*words):
        connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        answer = lines.readline()
        assert answer[:1] in b":+$", answer
        return lines.read(int(answer[1:]) + 2)[:-2] if answer[:1] == b"$" else answer[1:-2]

    counter, text = b"counter-%d" % client, b"text-%d" % client
    ask(b"DEL", counter), ask(b"DEL", text)

    def one(round_number):
        assert int(ask(b"INCR", counter)) == round_number + 1
        if round_number < ROUNDS:
            ask(b"APPEND", text, b"%d," % round_number)

    return one, lambda: ask(b"GET", text)


def web(client):
    """The same file again and again over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", int(where))
    connection.connect()
    connection.auto_open = 0  # and never another one
    digest = hashlib.sha256()

    def one(round_number):
        connection.request("GET", "/page.html")
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200 and answer.getheader("Connection") != "close", (answer.status, answer.headers)
        if round_number < ROUNDS:
            digest.update(body)

    return one, digest.digest


def work(client):
    one, result = {"redis": redis, "http": web}[kind](client)
    one(0)
    begun.wait()
    round_number = 1
    while round_number < ROUNDS or not os.path.exists(finish):
        one(round_number)
        round_number += 1
        time.sleep(0.005)
    sums[client] = hashlib.sha256(result()).hexdigest()


threads = [threading.Thread(target=work, args=(client,)) for client in range(CLIENTS)]
for thread in threads:
    thread.start()
begun.wait()
print("started", flush=True)
for thread in threads:
    thread.join()
print("result", *sums, flush=True)
sys.exit(any(one is None for one in sums))
