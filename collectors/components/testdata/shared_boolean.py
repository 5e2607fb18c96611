import ctypes
import mmap
import os


def shared_boolean(path, value=True):
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    os.pwrite(fd, bytes([value]), 0)
    memory = mmap.mmap(fd, 1)
    os.close(fd)
    return ctypes.c_bool.from_buffer(memory)


alive = shared_boolean(os.environ.get("VITALS_BOOLEAN", "/dev/shm/kuryr-watcher"))
alive.value = False
alive.value = True
