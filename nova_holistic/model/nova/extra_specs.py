# SPDX-License-Identifier: Apache-2.0
"""Requirements in a flavor's extra specs other than amounts: traits, and
requirements that cannot be planned from a host's root resource provider alone.
"""

from collections.abc import Mapping
import re

from nova_holistic.model.nova.mixed_cpus import MIXED

CPU_POLICY = 'hw:cpu_policy'
_TRAIT = 'trait:'
DEDICATED = 'dedicated'

_HYPERTHREADING = 'HW_CPU_HYPERTHREADING'
_TPM = 'COMPUTE_SECURITY_TPM_'
_ENCRYPTION = 'COMPUTE_EPHEMERAL_ENCRYPTION'

# Traits that Nova derives from extra specs, by key and value. Nova ignores
# unknown values, or refuses them when the server is created.
_REQUIRED = {
    ('hw:cpu_thread_policy', 'require'): _HYPERTHREADING,
    ('hw:maxphysaddr_mode', 'emulate'): 'COMPUTE_ADDRESS_SPACE_EMULATED',
    ('hw:maxphysaddr_mode', 'passthrough'):
        'COMPUTE_ADDRESS_SPACE_PASSTHROUGH',
    ('hw:pci_numa_affinity_policy', 'socket'):
        'COMPUTE_SOCKET_PCI_NUMA_AFFINITY',
    ('hw:tpm_version', '1.2'): _TPM + '1_2',
    ('hw:tpm_version', '2.0'): _TPM + '2_0',
    ('os:secure_boot', 'required'): 'COMPUTE_SECURITY_UEFI_SECURE_BOOT',
}
_FORBIDDEN = {('hw:cpu_thread_policy', 'isolate'): _HYPERTHREADING}
_TRUE = ('1', 't', 'true', 'on', 'y', 'yes')
_MEMORY_ENCRYPTION = 'hw:mem_encryption'

_MIXED = 'Placement does not know which of its processors are dedicated'
_NESTED = 'its resources come from other providers than the host'
_OBSTACLES = (
    (re.compile(r'accel:(?!device_profile$)'), _NESTED),
    (re.compile(r'pci_passthrough:(?!alias$)'), _NESTED),
    (re.compile(r'hw:pmem$'), _NESTED),
    (re.compile(r'hw:mem_encryption$'), _NESTED),
)


def named_traits(specs: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """Traits that extra specs such as ``trait:CUSTOM_X`` require and forbid.
    """
    required, forbidden = ({
        key.removeprefix(_TRAIT) for key, value in specs.items()
        if key.startswith(_TRAIT) and value == wanted}
        for wanted in ('required', 'forbidden'))
    return required, forbidden


def implied_traits(specs: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """Traits that Nova requires and forbids because of other extra specs, in
    the request group without a suffix."""
    required, forbidden = set(), set()
    for item in specs.items():
        if trait := _REQUIRED.get(item):
            required.add(trait)
        if trait := _FORBIDDEN.get(item):
            forbidden.add(trait)
    if specs.get('hw:tpm_version'):
        crb = specs.get('hw:tpm_model') == 'tpm-crb'
        required.add(_TPM + ('CRB' if crb else 'TIS'))
    return required, forbidden


def root_traits(specs: Mapping[str, str]) -> set[str]:
    """Traits that Nova's request filters require of the root provider, outside
    request groups."""
    required = set()
    if specs.get('accel:device_profile'):
        required.add('COMPUTE_ACCELERATORS')
    if specs.get('hw:sound_model') == 'virtio':
        required.add('COMPUTE_SOUND_MODEL_VIRTIO')
    if is_true(specs.get('hw:virtio_packed_ring')):
        required.add('COMPUTE_NET_VIRTIO_PACKED')
    if is_true(specs.get('hw:ephemeral_encryption')):
        required.add(_ENCRYPTION)
        if kind := specs.get('hw:ephemeral_encryption_format'):
            required.add(f'{_ENCRYPTION}_{kind.upper()}')
    return required


def is_true(value: str | None) -> bool:
    """Whether Nova reads a text as true."""
    return value is not None and value.strip().lower() in _TRUE


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
            if pattern.match(key) and (
                    key != _MEMORY_ENCRYPTION or is_true(specs[key])):
                return key, reason
    return '', ''
