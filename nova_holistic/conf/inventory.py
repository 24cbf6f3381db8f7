# SPDX-License-Identifier: Apache-2.0
"""Options of the inventory."""

from oslo_config import cfg

GROUP = cfg.OptGroup('inventory', title='Where snapshots come from')

OPTS = [
    cfg.StrOpt(
        'driver', default='placement',
        help='Name of an entry point in nova_holistic.inventory.'),
    cfg.StrOpt(
        'path', default='',
        help='Inventory document, for the file driver.'),
    cfg.IntOpt(
        'threads', default=8, min=1, max=64,
        help='How many resource providers are read from Placement at once. '
             'Only those that changed since the snapshot before are read. '
             'benchmarks/README.rst has the times for 1 to 32 threads.'),
    cfg.StrOpt(
        'placement_connection', secret=True,
        help='SQLAlchemy URL of the database of Placement, for the driver '
             'placement-db. Use an account that may only read: the driver '
             'never writes.'),
    cfg.ListOpt(
        'placement_revisions', default=[],
        help='Revisions of the schema of Placement that the driver '
             'placement-db accepts beside those it was tested with. By '
             'default, the driver refuses to read a schema that it does not '
             'know. Add a revision only after you have compared a snapshot '
             'of this driver with one of the driver placement.'),
    cfg.FloatOpt(
        'compare_interval', default=600.0, min=0.0,
        help='An engine keeps a snapshot of the cloud, and reads what has '
             'changed. In the background it reads every resource provider '
             'again within this number of seconds, to find changes that '
             'nothing has reported. Each takes one request to Placement, and '
             'about 15 ms of processor time: see benchmarks/README.rst. 0 '
             'keeps no snapshot: all of the cloud is read for each plan. The '
             'file driver reads its file for each plan.'),
    cfg.FloatOpt(
        'nova_interval', default=60.0, min=1.0,
        help='Seconds between two readings of the compute services and the '
             'aggregates by an engine that keeps a snapshot. An engine also '
             'reads them when a notification of Nova reports a change of '
             'one. At 10,000 hosts, a reading takes about a second of '
             'processor time, besides that of Nova: see '
             'benchmarks/README.rst.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
