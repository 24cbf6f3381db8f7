# SPDX-License-Identifier: Apache-2.0
"""The selections of Nova's tests."""

_FUNCTIONAL = 'nova.tests.functional'
_GROUPS = f'{_FUNCTIONAL}.test_server_group.ServerGroupTestV264'
_ZONES = (f'{_FUNCTIONAL}.test_availability_zones.'
          f'TestAvailabilityZoneScheduling')

FULL = (
    f'{_FUNCTIONAL}.test_servers',
    f'{_FUNCTIONAL}.test_servers_resource_request',
    f'{_FUNCTIONAL}.test_server_group',
    f'{_FUNCTIONAL}.test_cross_cell_migrate',
    f'{_FUNCTIONAL}.test_servers_provider_tree',
    f'{_FUNCTIONAL}.test_availability_zones',
    f'{_FUNCTIONAL}.test_aggregates',
    f'{_FUNCTIONAL}.test_scheduler',
    f'{_FUNCTIONAL}.test_cold_migrate',
    f'{_FUNCTIONAL}.test_boot_from_volume',
    'nova.tests.unit.scheduler')
"""Packages and modules of ``--effort=full``."""

SHORT = (
    f'{_FUNCTIONAL}.test_scheduler.AggregateInstanceExtraSpecsFilterTestCase',
    f'{_FUNCTIONAL}.test_scheduler.MultiCellSchedulerTestCase',
    f'{_GROUPS}.test_boot_servers_with_affinity',
    f'{_GROUPS}.test_boot_server_with_anti_affinity_rules',
    f'{_GROUPS}.test_evacuate_with_anti_affinity',
    f'{_GROUPS}.test_migrate_with_anti_affinity_confirm_updates_scheduler',
    f'{_ZONES}.test_create_server_to_zone',
    f'{_ZONES}.test_resize_revert_across_azs',
    'nova.tests.unit.scheduler.test_manager')
"""Modules, classes and tests of ``--effort=short``: creates and moves that
call select_destinations, and the unit tests of the manager."""

SELECTIONS = {'short': SHORT, 'full': FULL}
