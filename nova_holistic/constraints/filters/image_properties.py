# SPDX-License-Identifier: Apache-2.0
"""ImagePropertiesFilter: the host has the hypervisor that the image needs.

Nova also compares architecture and VM mode with the values that the virt
driver supports, which its API does not show. If Nova refuses a host for these
reasons, the planner records the refusal.
"""

from oslo_utils import versionutils

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)
from nova_holistic.model.nova.image_fields import fields_of

_SUPPORTED = {
    'qemu': ('kvm', 'qemu'), 'lxc': ('lxc',), 'vmware vcenter server': (
        'vmware',), 'ironic': ('ironic', 'baremetal'), 'zvm': ('zvm',),
    'fake': ('fake',)}
"""Values of img_hv_type that a host supports, by its hypervisor type."""

_DECIDING = ('hw_architecture', 'img_hv_type', 'hw_vm_mode')
"""Without one of these properties, Nova does not check the version either."""


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    found = fields_of(request.image.properties) if request.image else {}
    if not (options.image_properties_default_architecture
            or any(found.get(key) for key in _DECIDING)):
        return None
    kind = found.get('img_hv_type', '')
    version = _predicate(found.get('img_hv_requested_version', ''))

    def admits(facts: HostFacts) -> bool:
        own_kind, own_version = facts.host.hypervisor
        supported = _SUPPORTED.get(own_kind.lower())
        if kind and supported and kind not in supported:
            return False
        return not version or not own_version or version.satisfied_by(
            versionutils.convert_version_to_str(own_version))

    return admits if kind or version else None


def _predicate(text: str) -> versionutils.VersionPredicate | None:
    try:
        return versionutils.VersionPredicate(text) if text else None
    except ValueError:
        # Nova refuses such a request itself.
        return None
