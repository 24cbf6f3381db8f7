# SPDX-License-Identifier: Apache-2.0
"""Options of the inventory."""

from oslo_config import cfg

from nova_holistic.conf.times import MAX_SECONDS

GROUP = cfg.OptGroup('inventory', title='Source of snapshots')

OPTS = [
    cfg.StrOpt(
        'driver', default='placement',
        help='Driver of the inventory: the name of an entry point in '
             'nova_holistic.inventory.'),
    cfg.StrOpt(
        'path', default='',
        help='Path of the inventory document, for the driver file.'),
    cfg.IntOpt(
        'threads', default=8, min=1, max=64,
        help='Number of threads that read resource providers from Placement. '
             'An engine reads only the providers that have changed since the '
             'previous snapshot. benchmarks/README.rst states the times for 1 '
             'to 32 threads.'),
    cfg.StrOpt(
        'placement_connection', secret=True,
        help='SQLAlchemy URL of the database of Placement, for the driver '
             'placement-db. Use a read-only account: the driver never '
             'writes.'),
    cfg.ListOpt(
        'placement_revisions', default=[],
        help='Revisions of the schema of Placement that the driver '
             'placement-db accepts in addition to the tested revisions. By '
             'default, the driver refuses to read an unknown schema. Add a '
             'revision only after you have compared a snapshot of this driver '
             'with a snapshot of the driver placement.'),
    cfg.MultiStrOpt(
        'pci_alias', default=[],
        help='Aliases by which flavors request PCI devices '
             '(pci_passthrough:alias): the same values as [pci] alias of '
             'Nova. Set it only if Nova reports and schedules its PCI devices '
             'in Placement ([pci] report_in_placement, [filter_scheduler] '
             'pci_in_placement). Groups with a flavor whose alias is not '
             'listed are refused. Example: {"name": "gpu", "vendor_id": '
             '"10de", "product_id": "20b0"}'),
    cfg.MultiStrOpt(
        'device_profile', default=[],
        help='Device profiles of Cyborg by which flavors request accelerators '
             '(accel:device_profile), with name and groups, as Cyborg shows '
             'them. Groups with a flavor whose profile is not listed are '
             'refused. Example: {"name": "fpga", "groups": [{"resources:FPGA":'
             ' "1", "trait:CUSTOM_FPGA_INTEL": "required"}]}'),
    cfg.FloatOpt(
        'compare_interval', default=600.0, min=0.0, max=MAX_SECONDS,
        help='Interval in seconds in which an engine reads every resource '
             'provider again in the background, to find changes that no event '
             'has reported. An engine keeps a snapshot of the cloud and '
             'otherwise reads only the changes. Each provider takes one '
             'request to Placement and about 15 ms of processor time: see '
             'benchmarks/README.rst. 0 keeps no snapshot: the engine then '
             'reads the whole cloud for each plan. The file driver reads its '
             'file for each plan.'),
    cfg.FloatOpt(
        'nova_interval', default=60.0, min=1.0, max=MAX_SECONDS,
        help='Interval in seconds at which an engine that keeps a snapshot '
             'reads the compute services and the aggregates. An engine also '
             'reads them when a notification of Nova reports a change of one. '
             'At 10,000 hosts, reading them takes about a second of processor '
             'time, in addition to that of Nova: see benchmarks/README.rst.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
