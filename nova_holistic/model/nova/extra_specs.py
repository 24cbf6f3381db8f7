# SPDX-License-Identifier: Apache-2.0
"""Requirements in a flavor's extra specs other than amounts: traits, and
requirements that cannot be planned from a host's root resource provider alone.
"""

from collections.abc import Mapping
import re

from nova_holistic.model.nova.mixed_cpus import MIXED

CPU_POLICY = 'hw:cpu_policy'
DEDICATED = 'dedicated'

_HYPERTHREADING = 'HW_CPU_HYPERTHREADING'
_TPM = 'COMPUTE_SECURITY_TPM_'

# Traits that Nova derives from extra specs, by key and value. Nova ignores
# unknown values, or refuses them when the server is created.
_REQUIRED = {
    ('hw:cpu_thread_policy', 'require'): _HYPERTHREADING,
    ('hw:ephemeral_encryption', 'true'): 'COMPUTE_EPHEMERAL_ENCRYPTION',
    ('hw:maxphysaddr_mode', 'emulate'): 'COMPUTE_ADDRESS_SPACE_EMULATED',
    ('hw:maxphysaddr_mode', 'passthrough'):
        'COMPUTE_ADDRESS_SPACE_PASSTHROUGH',
    ('hw:sound_model', 'virtio'): 'COMPUTE_SOUND_MODEL_VIRTIO',
    ('hw:tpm_version', '1.2'): _TPM + '1_2',
    ('hw:tpm_version', '2.0'): _TPM + '2_0',
    ('hw:virtio_packed_ring', 'true'): 'COMPUTE_NET_VIRTIO_PACKED',
    ('os:secure_boot', 'required'): 'COMPUTE_SECURITY_UEFI_SECURE_BOOT',
}
_FORBIDDEN = {('hw:cpu_thread_policy', 'isolate'): _HYPERTHREADING}
_SWITCHES = ('hw:ephemeral_encryption', 'hw:virtio_packed_ring')
_TRUE = ('1', 't', 'true', 'on', 'y', 'yes')

_MIXED = 'Placement does not know which of its processors are dedicated'
_NESTED = 'its resources come from other providers than the host'
_OBSTACLES = (
    (re.compile(r'accel:(?!device_profile$)'), _NESTED),
    (re.compile(r'pci_passthrough:(?!alias$)'), _NESTED),
    (re.compile(r'hw:pmem$'), _NESTED),
    (re.compile(r'hw:mem_encryption$'), _NESTED),
)


def implied_traits(specs: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """Traits that Nova requires and forbids because of other extra specs."""
    required, forbidden = set(), set()
    for key, value in specs.items():
        if key in _SWITCHES:
            value = 'true' if value.strip().lower() in _TRUE else 'false'
        if trait := _REQUIRED.get((key, value)):
            required.add(trait)
        if trait := _FORBIDDEN.get((key, value)):
            forbidden.add(trait)
    if specs.get('accel:device_profile'):
        required.add('COMPUTE_ACCELERATORS')
    if 'hw:tpm_version' in specs:
        crb = specs.get('hw:tpm_model') == 'tpm-crb'
        required.add(_TPM + ('CRB' if crb else 'TIS'))
    return required, forbidden


def unplannable_reason(specs: Mapping[str, str]) -> str:
    """The reason why such a flavor cannot be planned; '' if it can, as far as
    no amount matters."""
    key, reason = _obstacle(specs)
    return f'extra spec {key}: {reason}' if key else ''


def unsupported_property(specs: Mapping[str, str]) -> tuple[str, str]:
    """The first property of an image that cannot be planned, and the reason;
    empty texts if all can be planned.

    :param specs: the properties in the form of extra specs
    """
    if specs.get(CPU_POLICY) == MIXED:
        return f'{CPU_POLICY}={MIXED}', _MIXED
    return _obstacle(specs)


def _obstacle(specs: Mapping[str, str]) -> tuple[str, str]:
    for key in sorted(specs):
        for pattern, reason in _OBSTACLES:
            if pattern.match(key):
                return key, reason
    return '', ''
