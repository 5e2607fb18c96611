"""Makes Octavia's database: octavia_schema.py CONFIG DATABASE.

Octavia's migrations stop on sqlite. The schema of the models is the same.
"""
import sqlite3
import sys

from octavia.common import service
from octavia.db import api
from octavia.db import models

config, database = sys.argv[1:]
service.prepare_service(["octavia", "--config-file", config])
models.base_models.BASE.metadata.create_all(api.get_engine())
sqlite3.connect(database).execute("pragma journal_mode=wal")
