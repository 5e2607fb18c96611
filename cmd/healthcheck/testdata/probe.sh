#!/bin/bash
# A health check of the kind that this program replaces: is the process connected to
# the port, and does the URL answer? PID, PORT in hex, and URL come as arguments.
set -euo pipefail
inodes=$(awk -v port=":$2" 'substr($3, length($3) - 4) == port && $4 == "01" { printf "%s%s", sep, $10; sep = "|" }' /proc/net/tcp)
[ -n "$inodes" ] || { echo "not connected to $2"; exit 1; }
found=
for fd in "/proc/$1/fd/"*; do
    [[ $(readlink "$fd") =~ ^socket:\[($inodes)\]$ ]] && found=1 && break
done
[ -n "$found" ] || { echo "process $1 is not connected to $2"; exit 1; }
curl -q -g -f -sS -o /dev/null -m 10 -w '%{http_code} %{remote_ip}:%{remote_port} %{time_total} seconds\n' "$3"
