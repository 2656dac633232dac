"""Each rank checks what it gets: objects from its neighbour, sums of all, and what was put into its window."""

import array
import sys

from mpi4py import MPI

COUNT = 512

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
steps = int(sys.argv[1])
window_memory = array.array("d", bytes(8 * COUNT))
window = MPI.Win.Create(window_memory, disp_unit=8, comm=world)


def values(step, of):
    return array.array("d", (((step * 31 + of * 17 + i * 7) % 1009) / 64 for i in range(COUNT)))


def check(right, what, step):
    if not right:
        print(f"wrong: {what} in step {step} of rank {rank}", flush=True)
        world.Abort(1)


for step in range(1, steps + 1):
    right, left = (rank + 1) % size, (rank - 1) % size
    told = world.sendrecv({"step": step, "from": rank, "text": "x" * (step % 3000)}, dest=right, source=left)
    check(told == {"step": step, "from": left, "text": "x" * (step % 3000)}, "an object", step)
    own, total = values(step, rank), array.array("d", bytes(8 * COUNT))
    world.Allreduce(own, total, op=MPI.SUM)
    expected = [sum(column) for column in zip(*(values(step, of) for of in range(size)))]
    check(list(total) == expected, "a sum", step)
    window.Fence()
    window.Put(own, right)
    window.Fence()
    check(window_memory == values(step, left), "what was put", step)
    if rank == 0 and step % 10 == 0:
        print(f"step {step}: {sum(total)!r}", flush=True)
window.Free()
if rank == 0:
    print("passed", flush=True)
