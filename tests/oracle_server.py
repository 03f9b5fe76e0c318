#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""oracle_server.py SOCKET: runs test scripts that need PyTorch, and imports PyTorch only once.

PyTorch takes seconds to import, and a hundred tests need it. This process imports it once and waits at SOCKET. For each script that with_torch.py
sends, it forks, and the copy runs the script with the client's folder, environment and files. The server computes nothing itself, so that the
copies begin without threads of PyTorch. The server ends after IDLE seconds without a client."""
import array
import atexit
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import traceback

os.environ["ATEN_CPU_CAPABILITY"] = "avx2"  # all references use this instruction set; PyTorch reads the variable at its first operator
import torch  # noqa: F401, E402
try:
    import torchvision  # noqa: F401
except ImportError:
    pass

IDLE = 30


def receive(client):
    """Receives the request of a client, and its standard input, output and errors."""
    files = array.array("i")
    data, ancillary, _, _ = client.recvmsg(1 << 20, socket.CMSG_SPACE(3 * files.itemsize))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(content)
    return json.loads(data), list(files)


def become(request, files):
    """Runs the script in the forked copy of the server, and ends the copy with the script's status."""
    for to, file in enumerate(files):
        os.dup2(file, to)
    os.environ.clear()
    os.environ.update(request["environment"] | {"ATEN_CPU_CAPABILITY": "avx2"})
    os.chdir(request["folder"])
    script = os.path.abspath(request["arguments"][0])
    sys.argv = [script] + request["arguments"][1:]
    sys.path[0] = os.path.dirname(script)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
    sys.stderr = open(2, "w", closefd=False, buffering=1)
    status = 1
    try:
        runpy.run_path(script, run_name="__main__")
        status = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    atexit._run_exitfuncs()  # called here, because os._exit, which leaves the server's state alone, does not call exit functions
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


class Server:
    def __init__(self, path):
        self.clients = {}  # {process that runs the script: client}
        self.events = selectors.DefaultSelector()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(64)
        self.ended, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.events.register(self.socket, selectors.EVENT_READ, self.accept)
        self.events.register(self.ended, selectors.EVENT_READ, self.reap)

    def accept(self):
        client, _ = self.socket.accept()
        request, files = receive(client)
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setpgid(0, 0)
            become(request, files)
        for file in files:
            os.close(file)
        self.clients[child] = client
        self.events.register(client, selectors.EVENT_READ, lambda: self.gone(child))

    def gone(self, child):
        """Ends the script if the client has ended, by ctest's time limit or Ctrl-C."""
        self.events.unregister(self.clients[child])
        self.clients[child].close()
        self.clients[child] = None
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def reap(self):
        os.read(self.ended, 4096)
        while self.clients:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            client = self.clients.pop(child)
            if client is not None:
                self.events.unregister(client)
                try:
                    client.sendall(str(os.waitstatus_to_exitcode(status)).encode())
                except OSError:
                    pass
                client.close()

    def serve(self):
        while True:
            ready = self.events.select(IDLE)
            if not ready and not self.clients:
                return
            for key, _ in ready:
                if key.fd in self.events.get_map():  # checked, because an earlier event of this round may have closed this connection
                    key.data()


if __name__ == "__main__":
    path = sys.argv[1]
    server = Server(path)
    print("ready", flush=True)
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in range(3):
        os.dup2(nothing, file)
    try:
        server.serve()
    finally:
        os.unlink(path)
