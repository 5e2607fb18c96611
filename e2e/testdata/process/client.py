"""A process that holds sockets by command, one command a line on stdin.

connect HOST PORT requests a connection and does not wait for it; mapped PORT does so with
a socket of IPv6 for IPv4. deaf HOST PORT listens, accepts nothing and has no room for a
second client. listen HOST PORT, udp HOST PORT and unix PATH open sockets for others.
forget closes all of them.
"""
import socket
import sys

held = []


def family(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def connect(host, port):
    held.append(socket.socket(family(host), socket.SOCK_STREAM))
    held[-1].setblocking(False)
    held[-1].connect_ex((host, int(port)))


def mapped(port):
    connect("::ffff:127.0.0.1", port)


def listen(host, port, backlog=10):
    held.append(socket.socket(family(host), socket.SOCK_STREAM))
    held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held[-1].bind((host, int(port)))
    held[-1].listen(backlog)


def deaf(host, port):
    listen(host, port, 0)
    held.append(socket.create_connection((host, int(port))))


def udp(host, port):
    held.append(socket.socket(family(host), socket.SOCK_DGRAM))
    held[-1].bind((host, int(port)))


def unix(path):
    held.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    held[-1].bind("\0" + path[1:] if path.startswith("@") else path)
    held[-1].listen()


def forget():
    while held:
        held.pop().close()


print("started", flush=True)
for line in sys.stdin:
    command, *words = line.split()
    {f.__name__: f for f in (connect, mapped, listen, deaf, udp, unix, forget)}[command](*words)
    print("done", flush=True)
