"""The client of rank_server.py."""

import json
import os
import pathlib
import selectors
import signal
import socket
import subprocess
import time

SERVER = pathlib.Path(__file__).resolve().with_name("rank_server.py")


class RankServer:
    """A process of `python` that has imported `modules` and starts ranks by fork. Used from one thread; close() ends it and
    every rank that still runs."""

    def __init__(self, python, environment, modules):
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen([python, str(SERVER), str(theirs.fileno()), *modules], env=environment,
                                            pass_fds=[theirs.fileno()])

    def start(self, script, words, environment, network=""):
        """`network`: the path of the network namespace that the rank runs in, if it is another one."""
        request = {"script": str(script), "words": [str(word) for word in words], "environment": environment, "network": network}
        pipes = [os.pipe() for _ in range(3)]
        socket.send_fds(self.requests, [json.dumps(request).encode()], [write for _, write in pipes])
        for _, write in pipes:
            os.close(write)
        return ForkedRank(*(open(read, "rb") for read, _ in pipes))

    def close(self):
        self.requests.close()
        self.process.wait()


class ForkedRank:
    """A rank that the server started, with those members of subprocess.Popen that the tests use."""

    def __init__(self, stdout, stderr, status):
        self.stdout, self.stderr, self.status = stdout, stderr, status
        self.texts = {pipe: b"" for pipe in (stdout, stderr, status)}
        self.open = selectors.DefaultSelector()
        for pipe in self.texts:
            self.open.register(pipe, selectors.EVENT_READ)

    def read(self, timeout=None):
        """Reads what the pipes have; False if they have nothing within this many seconds."""
        ready = self.open.select(timeout)
        for key, _ in ready:
            data = os.read(key.fd, 1 << 16)
            self.texts[key.fileobj] += data
            if not data:
                self.open.unregister(key.fileobj)
                key.fileobj.close()
        return bool(ready)

    def numbers(self):
        """The process id and, at the end, the exit code."""
        return [int(word) for word in self.texts[self.status].split()]

    @property
    def pid(self):
        while not self.numbers() and self.read():
            pass
        return self.numbers()[0]

    @property
    def returncode(self):
        return self.numbers()[1] if len(self.numbers()) == 2 else None

    def poll(self):
        while self.open.get_map() and self.read(0):
            pass
        return self.returncode

    def communicate(self, timeout=None):
        deadline = time.monotonic() + timeout if timeout is not None else None
        while self.open.get_map():
            if not self.read(deadline and max(0, deadline - time.monotonic())):
                raise subprocess.TimeoutExpired(f"rank {self.pid}", timeout)
        if self.returncode is None:
            raise ChildProcessError("the rank server ended before its rank")
        return self.texts[self.stdout].decode(), self.texts[self.stderr].decode()

    def kill(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self):
        self.communicate()
        return self.returncode
