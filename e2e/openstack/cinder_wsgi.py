"""Cinder's API for uwsgi, with the configuration that the environment names."""
import os
import sys

sys.argv = ["cinder-api", "--config-file", os.environ["CINDER_CONFIG"]]

from cinder.wsgi import wsgi

application = wsgi.initialize_application()
