"""The part of the CNI daemon that adds pods to the network.

Each line "add RESULT [ERROR]" is one CNI ADD: an event that is reported, and an
observation of the histogram that the CNI daemon of Kuryr-Kubernetes exports by itself
(kuryr_kubernetes/cni/prometheus_exporter.py), served on the port CNI_EXPORTER_PORT.
The line "zombie" makes a child that ends and is not waited for.
"""
import http.server
import os
import threading

import component

NAME = "kuryr_cni_request_duration_seconds"
BUCKETS = [float(10 * i) for i in range(1, 19)] + [float("inf")]
SECONDS = {"timeout": 72.5}  # how long a request takes until it ends with the error
USUAL = 12.5


class Histogram:
    """A family that has a series only from its first observation on."""

    def __init__(self):
        self.seen = {}

    def observe(self, command, error, seconds):
        key = (command, error)
        self.seen = {**self.seen, key: self.seen.get(key, []) + [seconds]}

    def text(self):
        lines = ["# HELP %s The duration of CNI requests." % NAME, "# TYPE %s histogram" % NAME]
        for (command, error), seen in self.seen.items():
            labels = 'command="%s",error="%s"' % (command, error)
            for bound in BUCKETS:
                le = "+Inf" if bound == float("inf") else bound
                lines.append('%s_bucket{%s,le="%s"} %d' % (NAME, labels, le, sum(s <= bound for s in seen)))
            lines.append("%s_count{%s} %d" % (NAME, labels, len(seen)))
            lines.append("%s_sum{%s} %s" % (NAME, labels, sum(seen)))
        return "\n".join(lines) + "\n"


HISTOGRAM = Histogram()


class Exporter(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = HISTOGRAM.text().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


def command(way, verb, result="", error=""):
    if verb == "add":
        HISTOGRAM.observe("ADD", result != "success", SECONDS.get(error, USUAL))
        way.event("cni_add", result, error)
    elif os.fork() == 0:
        os._exit(0)


def first(way):
    """What an earlier process did does not speak against this one."""
    way.event("cni_add", "reset", "")


if "CNI_EXPORTER_PORT" in os.environ:
    exporter = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["CNI_EXPORTER_PORT"])), Exporter)
    threading.Thread(target=exporter.serve_forever, daemon=True).start()
component.serve(command, first)
