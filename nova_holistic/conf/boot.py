# SPDX-License-Identifier: Apache-2.0
"""Options of the creation of servers by engines.

The options to connect to keystone as the service's own user are those of
keystoneauth: see ``services``.
"""

from oslo_config import cfg

from nova_holistic.conf import times
from nova_holistic.messaging.payloads import MAX_SECONDS

GROUP = cfg.OptGroup('boot', title='Creation of servers by engines')

OPTS = [
    cfg.ListOpt(
        'encryption_keys', default=[], secret=True,
        help='Keys with which the table stores the rights to act for users, '
             'separated by commas: URL-safe base64 of 32 bytes each. The '
             'first key encrypts, and all keys decrypt. To exchange a key, '
             'insert the new key at the beginning, restart the API and all '
             'engines, and remove the old key after trust_lifetime. Without '
             'a key, engines create no servers. The API and all engines need '
             'the same keys. Create a key with: python3 -c "from '
             'cryptography.fernet import Fernet; '
             'print(Fernet.generate_key().decode())"'),
    cfg.IntOpt(
        'trust_lifetime', default=24 * 3600, min=60, max=MAX_SECONDS,
        help='Seconds after which the right to act for a user expires, if no '
             'engine has deleted it before. The time includes the planning of '
             'the group and the creation of its servers.'),
    cfg.IntOpt(
        'groups', default=2, min=1, max=64,
        help='Maximum number of groups whose servers one engine creates at '
             'the same time.'),
    cfg.IntOpt(
        'parallel', default=10, min=1, max=256,
        help='Maximum number of servers of one group that are created at the '
             'same time. A server counts from the create request until it is '
             'active.'),
    cfg.IntOpt(
        'max_retries', default=5, min=0, max=100,
        help='Maximum number of further attempts per server that a user may '
             'request.'),
    cfg.IntOpt(
        'volume_tries', default=3, min=1, max=100,
        help='Maximum number of attempts to create a volume at plan time. '
             'After a failed attempt, the volume is planned in another pool '
             'if possible. An unexpected error of an engine also counts as '
             'an attempt.'),
    cfg.FloatOpt(
        'poll_interval', default=2.0, min=0.05, max=times.MAX_SECONDS,
        help='Interval in seconds at which an engine reads a server that is '
             'being created or deleted.'),
    cfg.IntOpt(
        'build_timeout', default=1800, min=1,
        help='Seconds after which the creation of a server counts as failed '
             'if the server is not active. Compare [DEFAULT] '
             'instance_build_timeout of Nova.'),
    cfg.IntOpt(
        'place_timeout', default=300, min=1,
        help='Seconds for which an engine waits until the capacity of a '
             'failed server is held again before it creates the server '
             'again.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
