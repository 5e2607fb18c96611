"""A process that takes memory by the lines of its standard input.

"N" takes N MiB more; "cache N FILE" writes a file of N MiB, which the kernel caches.
"""
import os
import sys

held = []
for line in sys.stdin:
    words = line.split()
    if words[0] == "cache":
        with open(words[2], "wb") as file:
            for _ in range(int(words[1])):
                file.write(bytes(1 << 20))
            os.fsync(file.fileno())
    else:
        held.append(bytearray(b"\1") * (int(words[0]) << 20))
