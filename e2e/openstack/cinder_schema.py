"""Makes Cinder's database: cinder_schema.py CONFIG DATABASE."""
import sqlite3
import sys

from cinder import objects
from cinder.common import config  # registers the options
from cinder.db import migration
from oslo_config import cfg

config_file, database = sys.argv[1:]
objects.register_all()
cfg.CONF(["--config-file", config_file], project="cinder")
migration.db_sync()
sqlite3.connect(database).execute("pragma journal_mode=wal")
