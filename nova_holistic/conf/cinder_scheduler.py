# SPDX-License-Identifier: Apache-2.0
"""Options of the lookup inside cinder-scheduler."""

from oslo_config import cfg

from nova_holistic.conf.times import MAX_SECONDS

GROUP = cfg.OptGroup(
    'holistic_cinder', title='Lookup of planned pools in cinder-scheduler')

OPTS = [
    cfg.StrOpt(
        'failure_mode', default='reject',
        choices=[
            ('reject', 'the create fails, and the property holistic_fault of '
                       'the volume states the reason'),
            ('yield', 'Cinder schedules the volume as if it had no pointer')],
        help='How the scheduler handles the create of a volume whose pointer '
             'it cannot use.'),
    cfg.FloatOpt(
        'planned_lifetime', default=0.0, min=0, max=MAX_SECONDS,
        help='Seconds for which a scheduler caches the capacity of planned '
             'volumes. In this time, other volumes may use capacity that was '
             'planned after the read. 0 disables the cache: each request '
             'then reads it with two queries.'),
    cfg.FloatOpt(
        'outage_lifetime', default=300.0, min=0, max=MAX_SECONDS,
        help='Seconds for which a scheduler uses the last read capacity of '
             'planned volumes if the placement table is unavailable. After '
             'this time, volumes without a pointer may use planned capacity, '
             'so that Cinder does not depend on the table.'),
    cfg.FloatOpt(
        'reconcile_interval', default=10.0, min=0, max=MAX_SECONDS,
        help='Minimum number of seconds between two passes in which a '
             'scheduler compares claimed and built volumes with the volumes '
             'in the database of Cinder. A pass follows a capacity report of '
             'a volume service. 0 lets a pass follow each report.'),
    cfg.FloatOpt(
        'pool_weight_multiplier', default=1.0,
        help='Multiplier of HolisticPoolWeigher, which prefers pools with a '
             'small share of planned capacity for volumes without a '
             'pointer.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
