"""Has a name of each kind in the directory of its second argument, and looks whether they lead to it until the file of
the first one is there."""
import mmap, os, socket, stat, sys, time

finish, directory = sys.argv[1:3]
os.umask(0)


def at(name):
    return os.path.join(directory, name)


os.makedirs(at("work"), 0o755)
os.mkdir(at("sockets"), 0o710)
os.mkdir(at("opened"), 0o700)
open(at("read"), "w").write("read")
os.mkfifo(at("fifo"), 0o640)
fifo = os.open(at("fifo"), os.O_RDWR)
memory_name = "/dev/shm/udckpt-names-%d" % os.getpid()
memory_file = os.open(memory_name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
os.ftruncate(memory_file, 4096)
memory = mmap.mmap(memory_file, 4096)
memory[:6] = b"secret"
server = socket.socket(socket.AF_UNIX)
server.bind(at("sockets/server"))
os.chmod(at("sockets/server"), 0o600)
server.listen(5)
abstract_name = "\0udckpt-names-%d" % os.getpid()
abstract = socket.socket(socket.AF_UNIX)
abstract.bind(abstract_name)
abstract.listen(5)
tcp = socket.socket()
tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
tcp.bind(("127.0.0.1", 0))
tcp.listen(5)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
opened = os.open(at("opened"), os.O_RDONLY)
read = open(at("read"))
os.chdir(at("work"))
print("names", memory_name, abstract_name[1:], tcp.getsockname()[1], udp.getsockname()[1], flush=True)
print("started", flush=True)


def call(listener, address):
    with socket.socket(listener.family) as client:
        client.connect(address)
        listener.accept()[0].close()


while not os.path.exists(finish):
    for listener, address in (server, at("sockets/server")), (abstract, abstract_name), (tcp, tcp.getsockname()):
        call(listener, address)
    assert stat.S_IMODE(os.stat(at("sockets/server")).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(at("sockets")).st_mode) == 0o710
    assert stat.S_IMODE(os.stat(at("fifo")).st_mode) == 0o640
    assert os.path.samestat(os.stat(at("fifo")), os.fstat(fifo))
    assert os.path.samestat(os.stat(memory_name), os.fstat(memory_file)) and memory[:6] == b"secret"
    time.sleep(0.02)
os.unlink(memory_name)
print("result", "all names are right")
