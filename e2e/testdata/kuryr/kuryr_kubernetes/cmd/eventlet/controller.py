"""A controller whose components do what the lines of its input contain."""

import sys

from kuryr_kubernetes.handlers import health


class Watcher(health.HealthHandler):
    pass


class KuryrPortHandler(health.HealthHandler):
    pass


class NamespaceHandler(health.HealthHandler):
    def is_ready(self, quota):  # as upstream, which lists custom resources here
        raise RuntimeError("a request to the Kubernetes API")


def next_line():
    """Read without blocking the event loop, if there is one."""
    if "eventlet" in sys.modules:
        from eventlet import tpool

        return tpool.execute(sys.stdin.readline)
    return sys.stdin.readline()


def start():
    found = {c.__name__: c() for c in (Watcher, KuryrPortHandler, NamespaceHandler)}
    print(sys.argv, flush=True)
    for line in iter(next_line, ""):
        command, name, *text = line.split(maxsplit=2)
        if command == "ready":
            found[name].set_readiness(text[0].strip() == "true")
        elif command == "hang":
            sys.stdin.readline()  # blocks the event loop until the next line
        else:
            found[name].set_liveness(command == "alive", KeyError(text[0].strip()) if text else None)
