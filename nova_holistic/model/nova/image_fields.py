# SPDX-License-Identifier: Apache-2.0
"""Image properties with Nova's names and values.

See nova.objects.image_meta.ImageMetaProps, and the classes of its fields in
nova.objects.fields.
"""

from collections.abc import Mapping
from typing import Any

_OLD_NAMES = {
    'architecture': 'hw_architecture', 'owner_id': 'img_owner_id',
    'vmware_disktype': 'hw_disk_type', 'vmware_image_version': 'img_version',
    'vmware_ostype': 'os_distro', 'auto_disk_config': 'hw_auto_disk_config',
    'ipxe_boot': 'hw_ipxe_boot', 'xenapi_device_id': 'hw_device_id',
    'xenapi_image_compression_level': 'img_compression_level',
    'vmware_linked_clone': 'img_linked_clone',
    'xenapi_use_agent': 'img_use_agent',
    'xenapi_skip_agent_inject_ssh': 'os_skip_agent_inject_ssh',
    'xenapi_skip_agent_inject_files_at_boot':
        'os_skip_agent_inject_files_at_boot',
    'cache_in_nova': 'img_cache_in_nova', 'vm_mode': 'hw_vm_mode',
    'bittorrent': 'img_bittorrent', 'bdm_v2': 'img_bdm_v2',
    'root_device_name': 'img_root_device_name',
    'hypervisor_version_requires': 'img_hv_requested_version',
    'hypervisor_type': 'img_hv_type'}
"""Old names that Nova accepts. If an image has both names of a property, its
current name applies."""

_ADAPTER = 'vmware_adaptertype'
"""An old property that determines two current ones."""

SWITCHES = frozenset([
    'hw_boot_menu', 'hw_ephemeral_encryption', 'hw_firmware_stateless',
    'hw_ipxe_boot', 'hw_locked_memory', 'hw_mem_encryption', 'hw_pmu',
    'hw_qemu_guest_agent', 'hw_time_hpet', 'hw_vif_multiqueue_enabled',
    'hw_virtio_packed_ring', 'img_bdm_v2', 'img_bittorrent',
    'img_cache_in_nova', 'img_hide_hypervisor_id', 'img_linked_clone',
    'img_use_agent', 'os_require_quiesce',
    'os_skip_agent_inject_files_at_boot', 'os_skip_agent_inject_ssh'])
"""Properties that are true or false."""

FIELDS = SWITCHES | frozenset([
    'hw_architecture', 'hw_auto_disk_config', 'hw_cdrom_bus', 'hw_cpu_cores',
    'hw_cpu_max_cores', 'hw_cpu_max_sockets', 'hw_cpu_max_threads',
    'hw_cpu_policy', 'hw_cpu_realtime_mask', 'hw_cpu_sockets',
    'hw_cpu_thread_policy', 'hw_cpu_threads', 'hw_device_id', 'hw_disk_bus',
    'hw_disk_type', 'hw_emulation_architecture',
    'hw_ephemeral_encryption_format',
    'hw_ephemeral_encryption_secret_uuid', 'hw_firmware_type',
    'hw_floppy_bus', 'hw_input_bus', 'hw_machine_type',
    'hw_maxphysaddr_bits', 'hw_maxphysaddr_mode', 'hw_mem_encryption_model',
    'hw_mem_page_size', 'hw_numa_cpus', 'hw_numa_mem', 'hw_numa_nodes',
    'hw_pci_numa_affinity_policy', 'hw_pointer_model',
    'hw_redirected_usb_ports', 'hw_rescue_bus', 'hw_rescue_device',
    'hw_rng_model', 'hw_scsi_model', 'hw_serial_port_count',
    'hw_sound_model', 'hw_tpm_model', 'hw_tpm_version', 'hw_usb_model',
    'hw_video_model', 'hw_video_ram', 'hw_vif_model', 'hw_viommu_model',
    'hw_vm_mode', 'hw_watchdog_action', 'img_block_device_mapping',
    'img_compression_level', 'img_config_drive', 'img_hv_requested_version',
    'img_hv_type', 'img_mappings', 'img_owner_id', 'img_root_device_name',
    'img_signature', 'img_signature_certificate_uuid',
    'img_signature_hash_method', 'img_signature_key_type', 'img_version',
    'os_admin_user', 'os_command_line', 'os_distro', 'os_secure_boot',
    'os_type', 'traits_required'])
"""All properties that Nova 34 keeps. Its filters do not see others."""

_NUMBERS = frozenset([
    'hw_cpu_cores', 'hw_cpu_max_cores', 'hw_cpu_max_sockets',
    'hw_cpu_max_threads', 'hw_cpu_sockets', 'hw_cpu_threads', 'hw_device_id',
    'hw_maxphysaddr_bits', 'hw_numa_nodes', 'hw_redirected_usb_ports',
    'hw_serial_port_count', 'hw_video_ram', 'img_compression_level',
    'img_version'])

_MEMORY = 'hw_numa_mem'
_MOST_NODES = 128
_TRAITS = 'traits_required'
UNREAD = frozenset([
    _MEMORY, _TRAITS, 'hw_numa_cpus', 'img_block_device_mapping',
    'img_mappings'])
"""Lists. Nova does not read them from a property of the same name, or does not
accept a text as the value."""

_ARCHITECTURES = {
    **dict.fromkeys(('i386', 'i486', 'i586', 'x86_32', 'x86_32p'), 'i686'),
    'amd64': 'x86_64'}
_OTHER_WORDS: Mapping[str, Mapping[str, str]] = {
    'hw_architecture': _ARCHITECTURES,
    'hw_emulation_architecture': _ARCHITECTURES,
    'hw_scsi_model': {'lsilogicsas': 'lsisas1068',
                      'paravirtual': 'vmpvscsi'},
    'hw_vif_model': {
        'virtuale1000': 'e1000', 'virtuale1000e': 'e1000e',
        'virtualpcnet32': 'pcnet', 'virtualsriovethernetcard': 'sriov',
        'virtualvmxnet': 'vmxnet', 'virtualvmxnet3': 'vmxnet3'},
    'hw_vm_mode': {'pv': 'xen', 'hv': 'hvm', 'baremetal': 'hvm'},
    'img_hv_type': {'xapi': 'xen'},
    'os_type': {}}
"""Properties whose value is lower case in Nova, and the words that Nova
replaces."""


def fields_of(properties: Mapping[str, str]) -> Mapping[str, Any]:
    """The properties that filters see, with the values that they see: texts,
    numbers, true or false, and lists.

    A value that Nova would refuse stays a text. Of the lists, there are only
    the traits and the memory of NUMA nodes.

    :param properties: values of Glance by name
    """
    named = {_OLD_NAMES[key]: value for key, value in properties.items()
             if key in _OLD_NAMES}
    adapter = properties.get(_ADAPTER)
    if adapter == 'ide':
        named['hw_disk_bus'] = adapter
    elif adapter:
        named.update(hw_disk_bus='scsi', hw_scsi_model=adapter)
    named.update(properties)
    found = {name: _value(name, value) for name, value in named.items()
             if name in FIELDS - UNREAD}
    return found | _lists(properties)


def _value(name: str, value: str) -> Any:
    if name in SWITCHES:
        return value.strip().lower() in ('1', 't', 'true', 'on', 'y', 'yes')
    if name in _NUMBERS:
        return _number(value)
    if name in _OTHER_WORDS:
        value = value.lower()
        return _OTHER_WORDS[name].get(value, value)
    return value


def _number(value: str) -> int | str:
    try:
        return int(value)
    except ValueError:
        return value


def _lists(properties: Mapping[str, str]) -> Mapping[str, list]:
    traits = [key.removeprefix('trait:') for key, value in properties.items()
              if key.startswith('trait:') and value == 'required']
    memory: list[int | str] = []
    while len(memory) < _MOST_NODES and (
            cell := properties.get(f'{_MEMORY}.{len(memory)}')) is not None:
        memory.append(_number(cell))
    return {name: values for name, values in (
        (_TRAITS, traits), (_MEMORY, memory)) if values}
