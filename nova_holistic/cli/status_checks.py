# SPDX-License-Identifier: Apache-2.0
"""Conditions for a start of services of this version.

Each check returns a Result and raises no error of this project: if a check
cannot run, it fails and its details state the reason.
"""

from collections.abc import Callable
import functools
import importlib.metadata
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
import microversion_parse
from oslo_config import cfg
from oslo_upgradecheck.upgradecheck import Code, Result

from nova_holistic.cli.components.connections import connect
from nova_holistic import conf as options
from nova_holistic import exceptions
from nova_holistic.holds.requests import MICROVERSION
from nova_holistic import inventory, objectives, plugins, topology
from nova_holistic.inventory import load_inventory
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.solver.milp import backend
from nova_holistic import supported
from nova_holistic.table import character_set
from nova_holistic.table import migration
from nova_holistic.table import startup_check

Check = Callable[[Any], Result]


def _error_as_failure(check: Check) -> Check:
    @functools.wraps(check)
    def failing_safely(conf) -> Result:
        try:
            return check(conf)
        except (cfg.Error, exceptions.HolisticError,
                ks_exceptions.ClientException) as error:
            return Result(Code.FAILURE, ' '.join(str(error).split()))
    return failing_safely


@_error_as_failure
def values(conf) -> Result:
    """The value of every option of the project is valid."""
    options.check_values(conf)
    return Result(Code.SUCCESS)


@_error_as_failure
def database(conf) -> Result:
    """The placement table's database is available, and can store every
    name."""
    database = startup_check.connected(conf)
    migration.version(database)
    problem = character_set.problem(database)
    return Result(Code.SUCCESS if problem is None else Code.WARNING, problem)


@_error_as_failure
def schema(conf) -> Result:
    """The schema of the placement table is not older than this code."""
    migration.check_schema_current(startup_check.connected(conf))
    return Result(Code.SUCCESS)


@_error_as_failure
def drivers(conf) -> Result:
    """Every plug-in that the configuration names is installed."""
    missing = []
    for namespace, option, name in (
            (inventory.NAMESPACE, '[inventory] driver',
             conf.inventory.driver),
            (topology.NAMESPACE, '[topology] driver', conf.topology.driver),
            (objectives.NAMESPACE, '[planner] objective',
             conf.planner.objective),
            (backend.NAMESPACE, '[planner] solver', conf.planner.solver)):
        try:
            plugins.load(namespace, name, option)
        except exceptions.UnknownPlugin as error:
            missing.append(str(error))
    return (Result(Code.FAILURE, '; '.join(missing)) if missing
            else Result(Code.SUCCESS))


@_error_as_failure
def placement(conf) -> Result:
    """Placement supports the microversion of the requests for holds."""
    response = connect(conf, 'placement').get('/')
    try:
        newest = max(
            microversion_parse.parse_version_string(version['max_version'])
            for version in response.json()['versions'])
    except (ValueError, KeyError, TypeError):
        return Result(Code.FAILURE, 'the service at this endpoint is not '
                                    'Placement')
    if newest < microversion_parse.parse_version_string(MICROVERSION):
        return Result(Code.FAILURE,
                      f'Placement supports microversions up to {newest}, and '
                      f'holds need {MICROVERSION}: upgrade Placement first')
    return Result(Code.SUCCESS)


@_error_as_failure
def levels(conf) -> Result:
    """Every host has a domain on every level of the topology."""
    return places(load_inventory(
        conf, placement=connect(conf, 'placement'),
        compute=connect(conf, 'nova')).snapshot())


def places(snapshot: Snapshot) -> Result:
    """Whether the location of each host is known down to the finest level."""
    if not snapshot.hosts:
        return Result(Code.WARNING, 'the inventory has no hosts')
    lacking = [(level, sum(len(host.location) <= index
                           for host in snapshot.hosts))
               for index, level in enumerate(snapshot.levels[:-1])]
    warnings = [f'{count} of {len(snapshot.hosts)} hosts have no {level}'
                for level, count in lacking if count]
    return (Result(Code.WARNING, '; '.join(warnings)) if warnings
            else Result(Code.SUCCESS))


def versions(conf) -> Result:
    """Python is supported, and so is Nova if it is installed here."""
    try:
        nova = importlib.metadata.version('nova')
    except importlib.metadata.PackageNotFoundError:
        nova = None
    if nova is not None and not supported.is_supported_nova(nova):
        oldest, newest = supported.NOVA
        return Result(Code.FAILURE,
                      f'Nova {nova} is not supported; Nova {oldest} to '
                      f'{newest} are')
    if not supported.is_supported_python():
        return Result(Code.WARNING, supported.python_message())
    return Result(Code.SUCCESS)


CHECKS: tuple[tuple[str, Check], ...] = (
    ('Values of the options', values),
    ('Database', database),
    ('Schema of the placement table', schema),
    ('Drivers, objective and solver', drivers),
    ('Placement', placement),
    ('Levels of the topology', levels),
    ('Versions of Nova and Python', versions),
)
