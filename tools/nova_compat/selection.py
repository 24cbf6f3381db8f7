# SPDX-License-Identifier: Apache-2.0
"""Which of Nova's tests are run."""

FULL = (
    'nova.tests.functional.test_servers',
    'nova.tests.functional.test_servers_resource_request',
    'nova.tests.functional.test_server_group',
    'nova.tests.functional.test_cross_cell_migrate',
    'nova.tests.functional.test_servers_provider_tree',
    'nova.tests.functional.test_availability_zones',
    'nova.tests.functional.test_aggregates',
    'nova.tests.functional.test_scheduler',
    'nova.tests.functional.test_cold_migrate',
    'nova.tests.functional.test_boot_from_volume',
    'nova.tests.unit.scheduler')
"""Modules and packages of ``--effort=full``."""

SHORT = (
    'nova.tests.functional.test_scheduler',
    'nova.tests.unit.scheduler.test_manager')
"""Modules and classes of ``--effort=short``."""

SELECTIONS = {'short': SHORT, 'full': FULL}
