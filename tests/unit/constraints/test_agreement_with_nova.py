# SPDX-License-Identifier: Apache-2.0
"""For random flavors, images and aggregates, the functions that check hosts
decide as Nova's own filters decide.

Hosts for which the planner only learns refusals may be accepted.
"""

import random
from types import SimpleNamespace

import pytest

from nova_holistic.constraints import filter_table
from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import facts_of, ServerRequest
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.image import Image
from tests.effort import times
from tests.unit.builders import host

PROJECT = 'project'
CHECKS = {rule.name: rule.host_check for rule in filter_table.FILTERS}
SPECS = {
    **dict.fromkeys(
        ('size', 'aggregate_instance_extra_specs:size', 'size:',
         'aggregate_instance_extra_specs:', 'other:size'),
        ['8', '>= 4', '<= 4', 's== 8', '<or> 4 <or> 8', '<in> 8', 'x', '']),
    **dict.fromkeys(
        ('hypervisor_type', 'capabilities:hypervisor_type',
         'other:hypervisor_type'),
        ['fake', 's== QEMU', 's!= QEMU', '<in> QE', '<or> QEMU <or> fake']),
    **dict.fromkeys(
        ('hypervisor_version', 'capabilities:hypervisor_version'),
        ['>= 6000000', '<= 6000000', '== 7000000', 's< 7']),
}
PROPERTIES = {
    'os_type': ['Linux', 'linux', 'windows'],
    'hw_video_ram': ['0', '016', '16'],
    'hw_qemu_guest_agent': ['no', 'Yes', 'true'],
    'os_distro': ['', '0', 'ubuntu', 'Ubuntu'],
    'vmware_ostype': ['ubuntu'],
    'hw_scsi_model': ['lsiLogicsas', 'lsisas1068'],
    'vmware_adaptertype': ['ide', 'lsilogicsas'],
    'hw_numa_mem.0': ['0', '512'],
    'trait:CUSTOM_A': ['required', 'other'],
    'hw_unknown': ['1'],
    'architecture': ['amd64'], 'hw_architecture': ['x86_64', 'i586'],
    'hypervisor_type': ['Fake', 'xapi', 'qemu'], 'img_hv_type': ['kvm'],
    'vm_mode': ['hv', 'hvm'], 'hypervisor_version_requires': ['>=7.0', '<7'],
}
METADATA = {
    'size': ['8', '4, 8', '', 'x,8'],
    'os_type': ['linux', 'Linux', 'windows, linux'],
    'hw_video_ram': ['16', '016', '0'],
    'hw_qemu_guest_agent': ['True', 'true', 'False'],
    'os_distro': ['ubuntu', 'debian,ubuntu', ''],
    'hw_scsi_model': ['lsisas1068'], 'hw_disk_bus': ['ide', 'scsi'],
    'hw_numa_mem': ['[512]', '[0]'], 'traits_required': ["['CUSTOM_A']"],
    'hw_architecture': ['x86_64', 'i686'], 'img_hv_type': ['xen', 'fake'],
    'hw_unknown': ['2'],
    'filter_tenant_id': [PROJECT, 'x', f'x, {PROJECT}', ''],
    'filter_tenant_id_2': [PROJECT, 'y'],
    'instance_type': ['small', 'a, small', 'large', ''],
}
OPTIONS = {
    'isolated_hosts': [[], ['one']],
    'isolated_images': [[], ['image']],
    'restrict_isolated_hosts_to_isolated_images': [True, False],
    'image_properties_default_architecture': [None, 'x86_64'],
    'aggregate_image_properties_isolation_namespace': [None, 'hw_video'],
    'aggregate_image_properties_isolation_separator': ['.', '_'],
}
HYPERVISORS = {'QEMU': ('kvm', 'qemu'), 'fake': ('fake',)}


def some(generator, table, most):
    return {name: generator.choice(table[name]) for name in generator.sample(
        sorted(table), generator.randint(0, most))}


@pytest.fixture(scope='module')
def nova():
    """The parts of Nova that the tests need."""
    import nova.conf
    from nova import objects
    from nova.scheduler import filters
    objects.register_all()
    conf = nova.conf.CONF
    yield SimpleNamespace(
        objects=objects, conf=conf,
        filters={each.__name__: each() for each in filters.all_filters()})
    for name in OPTIONS:
        conf.clear_override(name, 'filter_scheduler')


@pytest.mark.parametrize('name', [
    name for name, check in CHECKS.items() if check is not None])
def test_a_filter_accepts_the_hosts_that_nova_accepts(nova, name):
    for number in range(times(2000)):
        generator = random.Random(number)
        options = {key: generator.choice(values)
                   for key, values in OPTIONS.items()}
        for key, value in options.items():
            nova.conf.set_override(key, value, 'filter_scheduler')
        specs = some(generator, SPECS, 2)
        properties = some(generator, PROPERTIES, 3)
        aggregates = {each: some(generator, METADATA, 3)
                      for each in ('a', 'b')[:generator.randint(0, 2)]}
        hypervisor = (generator.choice(sorted(HYPERVISORS)),
                      generator.choice((6_000_000, 7_000_000)))
        try:
            theirs = nova.filters[name].host_passes(
                _host_state(aggregates, hypervisor),
                _request(nova.objects, specs, properties))
        except (ValueError, IndexError):
            # The request to Nova fails.
            continue
        assert _accepts(name, options, specs, properties, aggregates,
                        hypervisor) == theirs, (
            options, specs, properties, aggregates, hypervisor)


def _host_state(aggregates, hypervisor):
    kind, version = hypervisor
    return SimpleNamespace(
        host='one', hypervisor_type=kind, hypervisor_version=version,
        aggregates=[SimpleNamespace(metadata=each)
                    for each in aggregates.values()],
        stats={}, cpu_info={}, supported_instances=[
            (architecture, each, 'hvm') for each in HYPERVISORS[kind]
            for architecture in ('x86_64', 'i686')])


def _request(objects, specs, properties):
    return objects.RequestSpec(
        project_id=PROJECT,
        flavor=objects.Flavor(name='small', extra_specs=specs),
        image=objects.ImageMeta.from_dict(
            {'id': 'image', 'properties': dict(properties)}))


def _accepts(name, options, specs, properties, aggregates, hypervisor):
    request = ServerRequest(
        flavor='small', extra_specs=FrozenMapping(specs), project_id=PROJECT,
        image=Image('i', FrozenMapping(properties), id='image'))
    admits = CHECKS[name](request, NovaOptions(**{
        key: frozenset(value) if isinstance(value, list) else value
        for key, value in options.items()}), aggregates)
    if admits is None:
        return True
    (facts,) = facts_of(
        [host('one', aggregates=frozenset(aggregates), hypervisor=hypervisor)],
        aggregates)
    return admits(facts)
