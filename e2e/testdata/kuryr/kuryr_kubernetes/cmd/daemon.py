"""A CNI daemon with two service processes, whose numbers it prints, and the boolean that they share."""

import ctypes
import multiprocessing
import os
import signal
import sys

import cotyledon

from kuryr_kubernetes.handlers import health


class Watcher(health.HealthHandler):
    pass


class CNIPodHandler(health.HealthHandler):
    pass


class PodWatcherService(cotyledon.Service):
    def __init__(self, worker_id, healthy):
        super().__init__(worker_id)
        self.healthy = healthy
        CNIPodHandler()
        watcher = Watcher()
        signal.signal(signal.SIGUSR1, lambda *_: watcher.set_liveness(False))


class CNIDaemonExporterService(cotyledon.Service):
    pass


def start():
    healthy = multiprocessing.Value(ctypes.c_bool, True)
    for service, arguments in ((PodWatcherService, (healthy,)), (CNIDaemonExporterService, ())):
        pid = os.fork()
        if pid == 0:
            service(0, *arguments)
            while True:
                signal.pause()
        print(pid, flush=True)
    for line in sys.stdin:
        healthy.value = line.strip() == "true"
