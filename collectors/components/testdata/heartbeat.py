import os
import time


def work():
    time.sleep(1)  # one unit of work; it may fail, hang or be killed
    return True


path = os.environ.get("VITALS_BOOLEAN", "/dev/shm/kuryr-watcher")
memory = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
while True:
    alive = work()
    os.pwrite(memory, bytes([alive]), 0)  # the byte, and the heartbeat
