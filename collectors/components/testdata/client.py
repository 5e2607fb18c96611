#!/usr/bin/env python3
"""Report a component's health to Vitals: a class for programs, and a command.

    client.py NAME ready|not-ready|dead [REASON]

VITALS_SOCKET is the Unix socket of Vitals. With VITALS_URL, such as http://vitals:8080,
reports go there instead, with the token in the file VITALS_TOKEN_FILE.
"""

import http.client
import json
import os
import socket
import sys
import urllib.parse

HEALTH = {"ready": (True, True), "not-ready": (True, False), "dead": (False, False)}


class UnixConnection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(os.environ.get("VITALS_SOCKET", "/run/vitals/vitals.sock"))


def report(component, health, reason="", timeout=2):
    """Report, and return the error or None: a program goes on without Vitals."""
    alive, ready = HEALTH[health]
    body = json.dumps({"alive": alive, "ready": ready, "reason": reason[:500]})
    headers, connection = {}, UnixConnection("localhost", timeout=timeout)
    try:
        if url := os.environ.get("VITALS_URL"):
            scheme, host = urllib.parse.urlsplit(url)[:2]
            secure = scheme == "https"
            connection = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(host, timeout=timeout)
            with open(os.environ["VITALS_TOKEN_FILE"], encoding="ascii") as file:
                headers["Authorization"] = "Bearer " + file.read().strip()
        connection.request("PUT", "/api/v1/components/" + component, body, headers)
        response = connection.getresponse()
        return None if response.status == 204 else f"{response.status} {response.read(500).decode().strip()}"
    except (OSError, KeyError, http.client.HTTPException) as error:
        return f"no report: {error!r}"
    finally:
        connection.close()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[2] not in HEALTH:
        sys.exit(__doc__)
    sys.exit(report(*sys.argv[1:]))
