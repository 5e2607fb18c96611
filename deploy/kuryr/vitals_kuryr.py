#!/usr/bin/env python3
"""Run a program of Kuryr-Kubernetes unchanged, and report its components to Vitals.

    vitals_kuryr.py kuryr-k8s-controller|kuryr-daemon [ARGUMENT...]

Every element of Kuryr's HealthRegister is a component, named after its class, with the
last exception as the reason. The program itself, and every service process of the CNI
daemon, are components, too. VITALS_SOCKET is the Unix socket of Vitals.
"""

import http.client
import importlib
import json
import logging
import os
import re
import socket
import sys
import threading
import time

INTERVAL = 5  # seconds; the profiles expect a report every 30
PROGRAMS = {
    "kuryr-k8s-controller": "kuryr_kubernetes.cmd.eventlet.controller",
    "kuryr-daemon": "kuryr_kubernetes.cmd.daemon",
}
LOG = logging.getLogger("vitals_kuryr")


class Connection(http.client.HTTPConnection):
    """A connection to the Unix socket of Vitals."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(os.environ.get("VITALS_SOCKET", "/run/vitals/vitals.sock"))


def put(name, state):
    """Report a component, and return the error or None."""
    connection = Connection("localhost", timeout=2)
    try:
        connection.request("PUT", "/api/v1/components/" + name, json.dumps(state))
        answer = connection.getresponse()
        return None if answer.status < 300 else answer.read(200).decode(errors="replace").strip()
    except (OSError, http.client.HTTPException) as error:
        return str(error)
    finally:
        connection.close()


def reason(exception):
    """Return the exception on a short line, without credentials of URLs."""
    text = f"{type(exception).__name__}: {exception}" if exception else ""
    return re.sub(r"//[^/@\s]*@", "//", " ".join(text.split()))[:500]


def components(process, service):
    """Return the states of this process and its components, by name."""
    from kuryr_kubernetes.handlers import health

    found = {process: {"alive": True, "ready": True}}
    for handler in sorted(health.HealthRegister.get_instance().registry, key=lambda h: not h.is_alive()):
        name = type(handler).__name__
        alive = handler.is_alive()
        # The flag of the base class: overriding methods query OpenStack.
        ready = alive and health.HealthHandler.is_ready(handler)
        found[f"{process}.{name}" if service else name] = {
            "alive": alive, "ready": ready, "reason": reason(handler.get_last_exception())}
    healthy = getattr(service, "healthy", None)  # the boolean that all processes of the daemon share
    if healthy is not None:
        found["shared-boolean"] = {"alive": bool(healthy.value), "ready": bool(healthy.value)}
    return found


def report(process, service):
    """Report for ever. Nothing here may stop Kuryr."""
    last = None
    while True:
        try:
            errors = [put(*component) for component in components(process, service).items()]
            error = next(filter(None, errors), None)
        except Exception as failure:
            error = repr(failure)
        if error != last:
            LOG.warning("reports to Vitals: %s", error or "accepted again")
            last = error
        time.sleep(INTERVAL)


def start(process, service=None):
    """Report from a thread. Under eventlet it stops when the event loop hangs, and so do reports."""
    threading.Thread(target=report, args=(process, service), daemon=True).start()


def name_services(cotyledon):
    """Start reports in each service process of the daemon, which creates its service first."""
    create = cotyledon.Service.__init__

    def create_and_report(self, *args, **kwargs):
        create(self, *args, **kwargs)
        start(type(self).__name__, self)

    cotyledon.Service.__init__ = create_and_report


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(PROGRAMS)} [ARGUMENT...]")
    del sys.argv[0]  # the program's own arguments and title
    program = sys.argv[0]
    module = importlib.import_module(PROGRAMS[program])  # the controller's patches threads for eventlet
    if program == "kuryr-daemon":
        name_services(sys.modules["cotyledon"])
    start(program)
    module.start()


if __name__ == "__main__":
    main()
