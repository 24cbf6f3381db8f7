# SPDX-License-Identifier: Apache-2.0
"""Computes of the embedded cloud that run Nova's libvirt driver on the fake
libvirt of Nova's own tests."""

import io
import re
from unittest import mock

import fixtures
from nova.pci import request
from nova.tests import fixtures as nova_fixtures
from nova.tests.fixtures import libvirt as fake_libvirt
from nova.virt import driver as virt_driver
from nova.virt.libvirt import driver as libvirt_driver
from nova.virt.libvirt import utils as libvirt_utils
from oslo_utils import uuidutils

FILTERS = [
    'ComputeFilter', 'ComputeCapabilitiesFilter', 'ImagePropertiesFilter',
    'ServerGroupAntiAffinityFilter', 'ServerGroupAffinityFilter',
    'NUMATopologyFilter', 'PciPassthroughFilter']
"""Nova's default filters, and those of devices."""

_DRIVER = 'nova.virt.libvirt.driver.LibvirtDriver'
_HOST = 'nova.virt.libvirt.host.Host'


class LibvirtHypervisors(fixtures.Fixture):
    """Each compute that starts while this fixture is active has its own fake
    libvirt.

    :ivar connections: fake connection to libvirt, by host
    :ivar mdevs: host and parent device of each mediated device, in the order
        of their creation
    """

    def __init__(self, machines):
        """
        :param machines: functions by host name; each returns the keyword
            arguments of the fake connection, such as ``pci_info``
        """
        super().__init__()
        self._machines = machines
        self.connections = {}
        self.mdevs = []

    def _setUp(self):
        # Nova caches the PCI aliases of the process.
        request.get_alias_from_config.cache_clear()
        self.addCleanup(request.get_alias_from_config.cache_clear)
        self.useFixture(nova_fixtures.ConfPatcher(
            instances_path=self.useFixture(fixtures.TempDir()).path))
        self.useFixture(nova_fixtures.LibvirtImageBackendFixture())
        self.useFixture(nova_fixtures.CGroupsFixture())
        self._libvirt = self.useFixture(nova_fixtures.LibvirtFixture())
        self.useFixture(nova_fixtures.OSBrickFixture())
        self._replace_disks()
        for name, options in {
                f'{_HOST}.get_online_cpus': {
                    'return_value': set(range(64))},
                'nova.pci.utils.is_physical_function': {
                    'return_value': False},
                'nova.pci.utils.get_function_by_ifname': {
                    'return_value': (None, False)},
                f'{_DRIVER}._create_mdev': {
                    'new': lambda driver, *args, **options:
                        self._create_mdev(driver, *args, **options)},
                'nova.virt.driver.load_compute_driver': {'new': self._load},
        }.items():
            self.useFixture(fixtures.MockPatch(name, **options))

    def name_interfaces(self, name):
        """
        :param name: callable that returns the name of the network interface
            for the PCI address of a function
        """
        self._libvirt.mock_get_ifname_by_pci_address.side_effect = (
            lambda address, pf_interface=False: name(address))

    def _replace_disks(self):
        for name, options in {
                f'{_DRIVER}._create_image': {'return_value': (False, False)},
                f'{_DRIVER}._get_local_gb_info': {'return_value': {
                    'total': 1000, 'used': 0, 'free': 1000}},
                'nova.virt.libvirt.driver.libvirt_utils.is_valid_hostname': {
                    'return_value': True},
                'nova.virt.libvirt.driver.libvirt_utils.file_open': {
                    'side_effect': lambda *_, **__: io.BytesIO(b'')},
                'nova.privsep.utils.supports_direct_io': {
                    'return_value': True},
        }.items():
            self.useFixture(fixtures.MockPatch(name, **options))

    def _load(self, virtapi, compute_driver=None):
        name = virt_driver.CONF.host
        machine = self._machines[name]()
        if pci := machine.get('pci_info'):
            self._libvirt.update_sriov_mac_address_mapping(
                pci.get_pci_address_mac_mapping())
        connection = fake_libvirt.Connection(
            'qemu:///system', version=fake_libvirt.FAKE_LIBVIRT_VERSION,
            hv_version=fake_libvirt.FAKE_QEMU_VERSION, hostname=name,
            **machine)
        _add_interfaces(connection)
        self.connections[name] = connection
        with mock.patch(f'{_HOST}.get_connection', return_value=connection):
            made = libvirt_driver.LibvirtDriver(virtapi)
        made._host.get_connection = lambda: connection
        # Each host has its own UUID, which Nova reads from a file.
        made._host._node_uuid = uuidutils.generate_uuid()
        return made

    def _create_mdev(self, driver, parent, type_id, uuid=None):
        """Add the new device to its host, as the kernel does."""
        uuid = uuid or uuidutils.generate_uuid()
        name = libvirt_utils.mdev_uuid2name(uuid)
        connection = driver._host.get_connection()
        connection.mdev_info.devices[name] = fake_libvirt.FakeMdevDevice(
            dev_name=name, type_id=type_id, parent=parent)
        self.mdevs.append((connection.getHostname(), parent))
        return uuid


def _add_interfaces(connection):
    """Each virtual function has a network interface, which Nova's fake
    omits."""
    stock = connection.listAllDevices

    def list_all(flags):
        found = stock(flags)
        if flags & fake_libvirt.VIR_CONNECT_LIST_NODE_DEVICES_CAP_NET:
            found += [fake_libvirt.NodeDevice(
                connection, f'<device><name>net_{name}</name>'
                f'<parent>{name}</parent><capability type="net">'
                f'<interface>{name}</interface></capability></device>')
                for name, device in connection.pci_info.devices.items()
                if device.dev_type == 'VF']
        return found
    connection.listAllDevices = list_all


def pci_devices(**numbers):
    """A function that returns a host with these devices.

    :param numbers: see Nova's ``HostPCIDevicesInfo``
    """
    def machine():
        return {
            'host_info': fake_libvirt.HostInfo(
                cpu_nodes=2, cpu_sockets=1, cpu_cores=4, cpu_threads=1,
                kB_mem=16 * 1024 * 1024),
            'pci_info': fake_libvirt.HostPCIDevicesInfo(**{
                'num_pci': 0, 'num_pfs': 0, 'num_vfs': 0, **numbers}),
            'mdev_info': fake_libvirt.HostMdevDevicesInfo(
                devices={})}
    return machine


def provider_name(host, device):
    """Name of the provider of a libvirt device in Placement.

    :param device: ``0000:81:00.0`` or ``pci_0000_81_00_0``
    """
    numbers = re.findall('[0-9a-f]+', device.removeprefix('pci_'))
    return f'{host}_{":".join(numbers[:3])}.{numbers[3]}'
