#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""with_torch.py MODULE SCRIPT ARGUMENT…: runs a script that imports PyTorch, or skips it (exit 77) if Python has no such module. The script runs
in a copy of a process with PyTorch (oracle_server.py), which the first test starts. If this is not possible, or with TAPER_ORACLE=alone, it
runs in a process of its own."""
import fcntl
import hashlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# PyTorch 1.13 writes beyond its memory in rare cases of linear algebra. A script whose process ended by a signal is run once more, because this
# is no fault of the test.
DIED = {-signal.SIGABRT, -signal.SIGSEGV}


def connect():
    """Returns a connection to the server of this user and this Python. Starts the server if none runs."""
    python = hashlib.sha256(os.path.realpath(sys.executable).encode() + sys.prefix.encode()).hexdigest()[:12]
    folder = os.path.join(tempfile.gettempdir(), f"taper-oracle-{os.getuid()}-{python}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    info = os.stat(folder)
    if info.st_uid != os.getuid() or info.st_mode & 0o077:
        raise OSError(f"{folder} is open to others")
    path = os.path.join(folder, "socket")
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(path)
            return client
        except OSError:
            pass
        if os.path.exists(path):
            os.unlink(path)
        server = subprocess.Popen([sys.executable, os.path.join(HERE, "oracle_server.py"), path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, start_new_session=True, cwd="/")
        if server.stdout.readline() != b"ready\n":
            raise OSError("the server does not start")
        client.connect(path)
        return client


def run(arguments):
    """Returns the script's exit status, or the negative number of the signal that ended its process."""
    if os.environ.get("TAPER_ORACLE") != "alone":
        try:
            client = connect()
            request = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
            socket.send_fds(client, [json.dumps(request).encode()], [0, 1, 2])
            answer = client.recv(64)
            if answer:
                return int(answer)
        except OSError as error:
            print(f"in a process of its own: {error}", flush=True)
    return subprocess.run([sys.executable, *arguments]).returncode


def main():
    module, *arguments = sys.argv[1:]
    name = os.path.basename(arguments[0])
    if importlib.util.find_spec(module) is None:
        print(f"SKIPPED: {name} needs Python's {module} (Debian: python3-{module})")
        return 77
    status = run(arguments)
    if status in DIED:
        print(f"AGAIN: {name} died of signal {-status}", flush=True)
        status = run(arguments)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
