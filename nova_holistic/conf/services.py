# SPDX-License-Identifier: Apache-2.0
"""Options to connect to Placement, Nova, Glance, Cinder and keystone: those
of keystoneauth.

For processes of this project only: inside nova-scheduler, nova.conf contains
them.
"""

from keystoneauth1 import loading
from oslo_config import cfg

GROUPS = {'placement': 'placement', 'nova': 'compute', 'glance': 'image',
          'cinder': 'block-storage', 'boot': 'identity'}
"""Option group to type of the service."""

# Many tools still write ``interface``, which keystoneauth rejects together
# with the newer name.
_ADAPTER = {
    'include_deprecated': False,
    'deprecated_opts': {'valid-interfaces': [cfg.DeprecatedOpt('interface')]}}


def register_opts(conf):
    for group, service_type in GROUPS.items():
        loading.register_auth_conf_options(conf, group)
        loading.register_session_conf_options(conf, group)
        loading.register_adapter_conf_options(conf, group, **_ADAPTER)
        conf.set_default('service_type', service_type, group=group)
        conf.set_default('valid_interfaces', ['internal', 'public'],
                         group=group)


def list_opts():
    options = [
        *loading.get_auth_common_conf_options(),
        *loading.get_auth_plugin_conf_options('password'),
        *loading.get_session_conf_options(),
        *loading.get_adapter_conf_options(**_ADAPTER)]
    return [(group, options) for group in GROUPS]
