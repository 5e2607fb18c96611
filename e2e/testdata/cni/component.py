"""How the parts of the CNI daemon report their health; watcher.py and server.py import it.

VITALS_WAY is the way: by a shared boolean, by systemd-notify, or by HTTP on the Unix
socket. A report that does not arrive is made up for by the next one.
"""
import http.client
import json
import mmap
import os
import select
import socket
import subprocess

PERIOD = 0.3  # seconds between two signs of life
REASON = "queue is stuck"


class Boolean:
    """One byte in shared memory. Touching its file is the sign of life."""

    def __init__(self):
        self.file = os.open(os.environ["VITALS_BOOLEAN"], os.O_RDWR | os.O_CREAT, 0o644)
        os.pwrite(self.file, b"\1", 0)
        self.memory = mmap.mmap(self.file, 1)

    def report(self, alive):
        self.memory[0] = alive
        os.utime(self.file)

    def event(self, name, result, error):
        """One bit has no room for it."""


class Notify:
    """The real program systemd-notify, and the socket that NOTIFY_SOCKET names."""

    def send(self, *words):
        subprocess.run(["systemd-notify", *words], check=False, timeout=5)

    def report(self, alive):
        if alive:
            self.send("READY=1", "WATCHDOG=1")
        else:
            self.send("STOPPING=1", "WATCHDOG=trigger", "STATUS=" + REASON)

    def event(self, name, result, error):
        self.send("X_VITALS_EVENT=" + " ".join([name, result, error]).strip())


class Connection(http.client.HTTPConnection):
    """HTTP on a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=5)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Http:
    """A PUT to the API on the Unix socket that VITALS_SOCKET names."""

    def put(self, report):
        connection = Connection(os.environ["VITALS_SOCKET"])
        try:
            connection.request("PUT", "/api/v1/components/" + os.environ["VITALS_COMPONENT"], json.dumps(report))
            answer = connection.getresponse()
            if answer.status >= 300:
                raise RuntimeError(answer.read().decode())
        except OSError:
            pass  # no process listens at the moment
        finally:
            connection.close()

    def report(self, alive):
        self.put({"alive": alive, "ready": alive, "reason": "" if alive else REASON})

    def event(self, name, result, error):
        event = {"event": name, "result": result}
        if error:
            event["error"] = error
        self.put({"events": [event]})


class Silent:
    """No report at all, as a daemon without support for Vitals."""

    def report(self, alive):
        pass

    event = Boolean.event


WAYS = {"boolean": Boolean, "notify": Notify, "http": Http, "silent": Silent}


def serve(command=None, first=None):
    """Report until standard input ends.

    The lines "alive" and "dead" flip what is reported; every other line is given to
    command, as words, with the way to report. first is called with it before anything.
    """
    with open("/proc/self/comm", "w") as comm:
        comm.write(os.environ["VITALS_NAME"])  # by which a process is found, see proc(5)
    way, alive = WAYS[os.environ["VITALS_WAY"]](), True
    if first:
        first(way)
    with open(0, "rb", buffering=0) as lines:
        while True:
            way.report(alive)
            if not select.select([lines], [], [], PERIOD)[0]:
                continue
            words = lines.readline().decode().split()
            if not words:
                return
            if words[0] in ("alive", "dead"):
                alive = words[0] == "alive"
            else:
                command(way, *words)
