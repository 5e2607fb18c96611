import contextlib
import os
import socket


def event(name, result, error=""):
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)  # a request never waits for Vitals and never fails because of it
        sender.sendto(f"X_VITALS_EVENT={name} {result} {error}".encode(), os.environ["NOTIFY_SOCKET"])


event("cni_add", "reset")  # at the start of the process
event("cni_add", "success")
event("cni_add", "failure", "netlink")
