"""Octavia's API for uwsgi, with the configuration that the environment names."""
import os

from octavia.api import app

application = app.setup_app(argv=["octavia-api", "--config-file", os.environ["OCTAVIA_CONFIG"]])
