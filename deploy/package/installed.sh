#!/bin/sh
# Runs after the package is installed, upgraded or removed: systemd reads the units again. The
# service is neither enabled nor started: its configuration comes first.
if [ -d "${DPKG_ROOT:-}/run/systemd/system" ]; then
    systemctl daemon-reload || true
fi
