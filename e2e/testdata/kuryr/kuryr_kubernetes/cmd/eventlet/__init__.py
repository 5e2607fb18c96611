"""With DOUBLE_EVENTLET set, threads are those of the real eventlet, as in Kuryr."""

import os

if os.environ.get("DOUBLE_EVENTLET"):
    import eventlet

    eventlet.monkey_patch()
