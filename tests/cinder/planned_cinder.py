# SPDX-License-Identifier: Apache-2.0
"""A Cinder with the driver and the filter of this project."""

import configparser
import pathlib
import re
import uuid

from cinder import context
from cinder.db import api as db
from cinder import exception
from cinder import objects
# The options of the scheduler.
from cinder.scheduler import host_manager  # noqa: F401
from cinder.tests.unit import fake_constants
from cinder.tests.unit.image import fake

from nova_holistic.cinder import connections
from nova_holistic.model.members.volume import Volume
from nova_holistic.table.records import GroupRecord, GroupStatus, MemberState
from nova_holistic.table.store import PlacementTable
from nova_holistic.table.volume_records import VolumeRecord
from tests.cinder.conftest import Cinder
from tools.cloud.waiting import wait_for

PAGE = pathlib.Path(__file__).parents[2] / 'doc/source/admin/cinder.rst'

HINTS = 'OS-SCH-HNT:scheduler_hints'


def manual_configuration():
    """The options in the manual, by group."""
    block = re.search(r'code-block:: ini\n\n((?:   .*\n|\n)+)',
                      PAGE.read_text())[1]
    parser = configparser.ConfigParser(
        default_section='none', interpolation=None)
    parser.read_string(re.sub('^   ', '', block, flags=re.M))
    return {name: dict(parser[name]) for name in parser.sections()}


class PlannedCinder(Cinder):
    """
    :ivar table: placement table
    """

    # pytest would collect the class as a test.
    __test__ = False

    def __init__(self, url):
        """:param url: of the placement table"""
        super().__init__()
        self._url = url
        self.table = PlacementTable(url)

    def setUp(self):
        # Glance does not run here. Cinder has images for its own tests.
        fake.mock_image_service(self)
        # The next Cinder of this process has another table.
        self.addCleanup(connections.reset)
        super().setUp()
        # More than ten volumes at the same time.
        db.quota_class_update(
            context.get_admin_context(), 'default', 'volumes', -1)

    def _get_flags(self):
        connections.register_opts()
        options = manual_configuration()
        for name, value in options['DEFAULT'].items():
            if name != 'scheduler_driver':
                options['DEFAULT'][name] = value.split(',')
        options['holistic_database'] = {'connection': self._url}
        options['holistic_cinder'] = {'reconcile_interval': 0.0}
        flags = super()._get_flags()
        for group, values in options.items():
            for name, value in values.items():
                flags[name] = {'v': value, 'g': (
                    None if group == 'DEFAULT' else group)}
        return flags

    @property
    def driver(self):
        return self.scheduler.manager.driver

    def write_group(self, *volumes, **fields):
        """Write a group of planned volumes.

        :param volumes: (path, size, pool), and optionally the volume type
        :returns: its UUID
        """
        group = str(uuid.uuid4())
        self.table.create_group(GroupRecord(**{
            'uuid': group, 'name': 'db', 'user_id': 'u',
            'project_id': fake_constants.PROJECT_ID, 'document': {},
            'status': GroupStatus.PLANNED, 'objective': 'spread', **fields}))
        assert self.table.volumes.write(group, [
            VolumeRecord(group, path, re.sub(r'-\d+$', '', path),
                         Volume(size, *kind), pool)
            for path, size, pool, *kind in volumes])
        return group

    def member(self, group, path, size, **keys):
        """A volume with a pointer, when Cinder has ended its work on it."""
        return self.wait_for(self.post(size, {
            'holistic_group': group, 'holistic_member': path}, **keys),
            ('available', 'error'))

    def post(self, size, hints=None, **keys):
        """Request a volume; return its UUID."""
        return self.api.post_volume({
            'volume': {'size': size, **keys},
            **({HINTS: hints} if hints else {})})['id']

    def report_all(self):
        """The services report their capacity, and the scheduler has it."""
        before = self._reports()
        self.report()

        def all_are_new():
            after = self._reports()
            return len(after) == len(self.volumes) and all(
                after[name] > before.get(name, 0) for name in after)

        wait_for('the scheduler has new reports', all_are_new, pause=0.02)

    def fill(self, size, volume_type, pool):
        """Create a volume outside all groups, and wait for its report.

        A service may send a report while it creates a volume. This report
        replaces the state of the scheduler and does not include the volume.

        :param pool: the volume's pool, as ``host@backend#pool``
        """
        volume = self.create(size, volume_type=volume_type)
        service, _, name = pool.partition('#')

        def is_reported():
            self.report_all()
            state = self.driver.host_manager.service_states[service]
            return [each['provisioned_capacity_gb'] for each in state['pools']
                    if each['pool_name'] == name] == [size]

        wait_for(f'a report of {size} GiB in {pool}', is_reported, pause=0.05)
        return volume

    def _reports(self):
        return {name: state['timestamp'].timestamp() for name, state
                in self.driver.host_manager.service_states.items()}

    @staticmethod
    def set_quota(project, gigabytes):
        """Limit the volumes of a project; -1 is unlimited."""
        admin = context.get_admin_context()
        try:
            db.quota_update(admin, project, 'gigabytes', gigabytes)
        except exception.ProjectQuotaNotFound:
            db.quota_create(admin, project, 'gigabytes', gigabytes)

    def all_volumes(self):
        """The volumes of the user's project, with all details."""
        return self.api.get_volumes()

    def rows(self, group):
        """State and pool of each volume of a group, by path."""
        return {row.path: (row.state, row.pool)
                for row in self.table.volumes.of_group(group)}

    def wait_for_states(self, group, *states):
        """Reports follow until the volumes of the group have these states."""
        def have_states():
            self.report_all()
            found = [state for state, _ in self.rows(group).values()]
            return found == [MemberState(state) for state in states]

        wait_for(f'the states {states}', have_states, pause=0.05)

    @staticmethod
    def disable(host, disabled):
        """Disable or enable a volume service."""
        service = objects.Service.get_by_args(
            context.get_admin_context(), host, 'cinder-volume')
        service.disabled = disabled
        service.save()

    def delete_all(self):
        """Delete all volumes and all groups."""
        for volume in objects.VolumeList.get_all(context.get_admin_context()):
            self.delete(volume.id)
        for record in self.table.list_groups():
            self.table.delete_group(record.uuid)
        self.report_all()
