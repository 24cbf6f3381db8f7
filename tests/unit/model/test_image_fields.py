# SPDX-License-Identifier: Apache-2.0
"""Image properties have the names and values that Nova's filters see."""

import random

import pytest

from nova_holistic.model.nova import image_fields
from nova_holistic.model.nova.image_fields import fields_of
from tests.effort import times

UUID = '11111111-2222-3333-4444-555555555555'


@pytest.fixture(scope='module')
def props():
    """Nova's class of image properties."""
    from nova.objects import image_meta
    return image_meta.ImageMetaProps


@pytest.mark.parametrize(('name', 'value', 'field', 'expected'), [
    ('os_type', 'Windows', 'os_type', 'windows'),
    ('architecture', 'AMD64', 'hw_architecture', 'x86_64'),
    ('hw_emulation_architecture', 'i586', 'hw_emulation_architecture',
     'i686'),
    ('hw_vif_model', 'VirtualVmxnet3', 'hw_vif_model', 'vmxnet3'),
    ('hw_scsi_model', 'paraVirtual', 'hw_scsi_model', 'vmpvscsi'),
    ('vm_mode', 'hv', 'hw_vm_mode', 'hvm'),
    ('hypervisor_type', 'xapi', 'img_hv_type', 'xen'),
    ('vmware_linked_clone', 'yes', 'img_linked_clone', True),
    ('hw_video_ram', '064', 'hw_video_ram', 64),
    ('trait:CUSTOM_A', 'required', 'traits_required', ['CUSTOM_A']),
    ('hw_numa_mem.0', '512', 'hw_numa_mem', [512]),
])
def test_a_property_has_the_name_and_the_value_of_nova(
        name, value, field, expected):
    assert fields_of({name: value}) == {field: expected}


@pytest.mark.parametrize(('adapter', 'expected'), [
    ('ide', {'hw_disk_bus': 'ide'}),
    ('lsiLogicsas', {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'lsisas1068'}),
    ('', {})])
def test_an_adapter_of_vmware_is_a_bus_and_a_model(adapter, expected):
    assert fields_of({'vmware_adaptertype': adapter}) == expected


@pytest.mark.parametrize('names', [
    ('hypervisor_type', 'img_hv_type'), ('img_hv_type', 'hypervisor_type')])
def test_the_current_name_of_a_property_takes_precedence(names):
    values = {'hypervisor_type': 'qemu', 'img_hv_type': 'kvm'}
    assert fields_of({name: values[name] for name in names}) == {
        'img_hv_type': 'kvm'}


@pytest.mark.parametrize('name', [
    'hw_unknown', 'hw_numa_mem', 'hw_numa_cpus', 'traits_required'])
def test_nova_does_not_read_other_properties(name):
    assert not fields_of({name: 'x'})


def test_nova_reads_the_same_names_and_values(props):
    words = _words(props)
    for number in range(times(2000)):
        generator = random.Random(number)
        given = {
            name: generator.choice(words[name]) for name in generator.sample(
                sorted(words), generator.randint(1, 8))}
        theirs = props.from_dict(dict(given))
        assert fields_of(given) == {
            name: getattr(theirs, name) for name in props.fields
            if name in theirs and name != 'hw_numa_cpus'}, given


def _words(props):
    """Values that Nova accepts, by property."""
    from nova.objects import fields
    words = {f'{name}.{cell}': ['1', '0', '512'] for name in (
        'hw_numa_mem', 'hw_numa_cpus') for cell in range(3)}
    words['trait:CUSTOM_A'] = words['trait:CUSTOM_B'] = ['required', 'other']
    for name, field in props.fields.items():
        if name in image_fields.UNREAD:
            continue
        kind = field.AUTO_TYPE
        if isinstance(kind, fields.Enum):
            words[name] = list(kind.valid_values)
        elif isinstance(kind, type(fields.IntegerField.AUTO_TYPE)):
            words[name] = ['0', '1', '007', ' 8 ']
        elif name in image_fields.SWITCHES:
            words[name] = ['true', ' Yes ', '1', 'off', '0', 'other', '']
        elif name.endswith('_uuid'):
            words[name] = [UUID]
        elif name == 'img_hv_requested_version':
            words[name] = ['>=6.0', '<7']
        else:
            words[name] = ['a', 'Abc', '', '0']
    for name, others in image_fields._OTHER_WORDS.items():
        words[name] += [*others, *(word.upper() for word in words[name]),
                        *(word.title() for word in others)]
    words |= {old: words[new]
              for old, new in image_fields._OLD_NAMES.items()}
    words['vmware_adaptertype'] = ['', 'ide', *words['hw_scsi_model']]
    return words
