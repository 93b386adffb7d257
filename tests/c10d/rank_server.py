"""Starts ranks by fork: `rank_server.py SOCKET MODULE...` imports the modules once, for all ranks.

Every packet on the socket (SOCKET is its descriptor) asks for a rank: JSON with `script`, `words`, `environment` and `network`
(the path of a network namespace, or empty), and the descriptors of stdout, stderr and a pipe. The server writes the process
id to the pipe, and the exit code, as subprocess counts it, when the rank has ended. When the socket is closed, the server
kills the ranks that still run."""

import ctypes
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys

NEW_NETWORK = 0x40000000  # CLONE_NEWNET of setns(2)
LONGEST = 1 << 20


def enter_network(path):
    with open(path) as network:
        if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), "setns failed", path)


def become_rank(request, stdout, stderr):
    """Gives this process, just forked, all that a new process would have. The script is run by the caller, so that it ends
    as a new process does: with finalization, exit handlers and a traceback on stderr."""
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    if request["network"]:
        enter_network(request["network"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [request["script"], *request["words"]]
    sys.path[0] = os.path.dirname(request["script"])


class Server:
    def __init__(self, requests):
        self.requests = requests
        self.ranks = {}  # process id and pipe, by pidfd
        self.events = selectors.DefaultSelector()
        self.events.register(requests, selectors.EVENT_READ)

    def serve(self):
        """True in a rank, False in the server when the socket is closed."""
        while True:
            for key, _ in self.events.select():
                if key.fileobj is not self.requests:
                    self.end(key.fileobj)
                    continue
                text, descriptors, _, _ = socket.recv_fds(self.requests, LONGEST, 3)
                if not text:
                    return False
                if self.start(json.loads(text), *descriptors):
                    return True

    def start(self, request, stdout, stderr, pipe):
        """True in the rank."""
        threads = os.listdir("/proc/self/task")
        assert len(threads) == 1, f"{len(threads)} threads: locks of the others would stay taken in a forked rank"
        pid = os.fork()
        if pid == 0:
            become_rank(request, stdout, stderr)
            self.forget(stdout, stderr, pipe)
            return True
        os.close(stdout)
        os.close(stderr)
        os.write(pipe, f"{pid}\n".encode())
        ended = os.pidfd_open(pid)
        self.ranks[ended] = pid, pipe
        self.events.register(ended, selectors.EVENT_READ)
        return False

    def end(self, ended):
        pid, pipe = self.ranks.pop(ended)
        self.events.unregister(ended)
        os.close(ended)
        os.write(pipe, f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())
        os.close(pipe)

    def forget(self, *descriptors):
        """Closes all that a rank does not need. Objects would otherwise close their descriptor when they are collected, at
        the end of the rank: by then the number may belong to another file."""
        self.events.close()
        self.requests.close()
        for descriptor in (*descriptors, *self.ranks, *(pipe for _, pipe in self.ranks.values())):
            os.close(descriptor)

    def kill_all(self):
        for pid, _ in self.ranks.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def main():
    server = Server(socket.socket(fileno=int(sys.argv[1])))
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for name in sys.argv[2:]:
        importlib.import_module(name)
    gc.freeze()  # collections in ranks leave the objects of these modules alone, and so shared with the server
    if server.serve():
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        server.kill_all()


if __name__ == "__main__":
    main()
