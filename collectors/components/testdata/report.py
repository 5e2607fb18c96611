import http.client
import json
import os
import socket


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=5)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def report(component, **health):
    connection = UnixConnection(os.environ.get("VITALS_SOCKET", "/run/vitals/vitals.sock"))
    connection.request("PUT", "/api/v1/components/" + component, json.dumps(health))
    response = connection.getresponse()
    if response.status >= 300:
        raise RuntimeError(response.read().decode())
    connection.close()


report("watcher", alive=True, ready=True, reason="synced 42 pods")
