"""Runs Neutron's API server; the package of the libraries has no command for it."""
import sys

from neutron.cmd.eventlet.server import main

sys.argv[0] = "neutron-server"
sys.exit(main())
