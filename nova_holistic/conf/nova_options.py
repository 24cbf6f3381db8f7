# SPDX-License-Identifier: Apache-2.0
"""Options of Nova that engines read as well.

They have the groups, names and defaults of nova.conf; set them to the same
values. In a process of Nova, they are already registered.
"""

from oslo_config import cfg

FILTERS = ('ComputeFilter', 'ComputeCapabilitiesFilter',
           'ImagePropertiesFilter', 'ServerGroupAntiAffinityFilter',
           'ServerGroupAffinityFilter')
"""Filters that Nova enables by default."""

_SAME = ' Set it to the value in nova.conf.'

DEFAULT_OPTS = [
    cfg.StrOpt(
        'default_schedule_zone',
        help='Availability zone of servers that name none. A member is '
             'planned there if neither its description nor a policy names an '
             'availability zone or a location.' + _SAME),
]
SCHEDULER_OPTS = [
    cfg.BoolOpt(
        'limit_tenants_to_placement_aggregate', default=False,
        help='Whether projects are restricted to the aggregates that name '
             'them.'
             + _SAME),
    cfg.BoolOpt(
        'placement_aggregate_required_for_tenants', default=False,
        help='Whether projects that no aggregate names get no hosts.' + _SAME),
    cfg.BoolOpt(
        'enable_isolated_aggregate_filtering', default=False,
        help='Whether aggregates that require traits are closed to servers '
             'that do not require them.' + _SAME),
    cfg.BoolOpt(
        'query_placement_for_image_type_support', default=False,
        help='Whether hosts must support the disk format of the image.'
             + _SAME),
    cfg.BoolOpt(
        'image_metadata_prefilter', default=False,
        help='Whether hosts must support the devices that the image requires.'
             + _SAME),
]
FILTER_OPTS = [
    cfg.ListOpt(
        'enabled_filters', default=list(FILTERS),
        help='Filters that nova-scheduler applies. The planner takes into '
             'account those that the manual lists as planned for.' + _SAME),
    cfg.StrOpt(
        'aggregate_image_properties_isolation_namespace',
        help='Prefix of the metadata keys that are compared with image '
             'properties.' + _SAME),
    cfg.StrOpt(
        'aggregate_image_properties_isolation_separator', default='.',
        help='Separator between this prefix and the rest of a key.' + _SAME),
    cfg.ListOpt(
        'isolated_hosts', default=[],
        help='Hosts for isolated images.' + _SAME),
    cfg.ListOpt(
        'isolated_images', default=[],
        help='UUIDs of images that run on isolated hosts only.' + _SAME),
    cfg.BoolOpt(
        'restrict_isolated_hosts_to_isolated_images', default=True,
        help='Whether isolated hosts accept isolated images only.' + _SAME),
    cfg.StrOpt(
        'image_properties_default_architecture',
        help='Architecture of images that specify none.' + _SAME),
    cfg.IntOpt(
        'max_instances_per_host', default=50, min=1,
        help='Maximum number of servers that NumInstancesFilter allows on a '
             'host.' + _SAME),
]

_GROUPS = ((None, DEFAULT_OPTS), ('scheduler', SCHEDULER_OPTS),
           ('filter_scheduler', FILTER_OPTS))


def register_opts(conf):
    for group, options in _GROUPS:
        for option in options:
            try:
                conf.register_opt(option, group=group)
            except cfg.DuplicateOptError:
                # This is a process of Nova, which has its own definition.
                continue


def list_opts():
    return [(group or 'DEFAULT', options) for group, options in _GROUPS]
