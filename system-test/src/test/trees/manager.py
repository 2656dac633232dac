"""Objects in another process, which is called over a unix socket in a directory of its own: multiprocessing.Manager."""
import multiprocessing, os, sys, time

if __name__ == "__main__":
    with multiprocessing.Manager() as manager:
        numbers = manager.list()
        print("socket", manager.address, flush=True)
        print("started", flush=True)
        while not os.path.exists(sys.argv[1]) or len(numbers) < 200:
            numbers.append(len(numbers) ** 2)
            with multiprocessing.Pool(1) as pool:  # a new process, which connects anew
                assert pool.apply(len, (numbers,)) == len(numbers)
            time.sleep(0.01)
        print("result", sum(numbers[:200]))
