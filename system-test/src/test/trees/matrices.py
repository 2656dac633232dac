"""Matrix products with numpy, a thread beside them and a child at two pipes. argv[1]: the file that ends it."""
import os
import subprocess
import sys
import threading
import time

import numpy

finish = sys.argv[1]
matrix = numpy.random.default_rng(1).random((120, 120))
product = matrix.copy()
doubler = "import sys\nfor line in sys.stdin: print(2 * int(line), flush=True)"
child = subprocess.Popen([sys.executable, "-c", doubler], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
ticks = [0]


def tick():
    while True:
        ticks[0] += 1
        time.sleep(0.001)


threading.Thread(target=tick, daemon=True).start()
print("started", flush=True)
rounds = 0
while not os.path.exists(finish) or rounds < 200:
    if rounds < 200:
        product = product @ matrix
        product /= numpy.abs(product).max()
    child.stdin.write(f"{rounds}\n")
    child.stdin.flush()
    assert int(child.stdout.readline()) == 2 * rounds
    time.sleep(0.02)
    rounds += 1
before = ticks[0]
while ticks[0] == before:  # the other thread runs too
    time.sleep(0.01)
child.stdin.close()
assert child.wait() == 0
print("result", product.sum().hex(), flush=True)
