"""Makes Neutron's database: neutron_schema.py CONFIG DATABASE.

Neutron's migrations stop on sqlite, which cannot alter constraints. The schema of the
models, stamped as the newest version, is the same.
"""
import sys

from neutron.db.migration import cli
from neutron.db.migration.models import head
from sqlalchemy import create_engine

config, database = sys.argv[1:]
engine = create_engine("sqlite:///" + database)
with engine.connect() as connection:
    connection.exec_driver_sql("PRAGMA journal_mode=WAL")
head.get_metadata().create_all(engine)
engine.dispose()
sys.argv = ["neutron-db-manage", "--config-file", config, "stamp", "heads"]
sys.exit(cli.main())
