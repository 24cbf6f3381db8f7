# SPDX-License-Identifier: Apache-2.0
"""Limits of the resources of a project.

The usage is counted before the record is written: simultaneous requests may
together exceed a limit by the amounts that they request.
"""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from keystoneauth1 import exceptions as ks_exceptions
from openstack import exceptions as sdk_exceptions
from oslo_limit import exception as limit_exceptions
from oslo_limit import limit
from oslo_log import log as logging

from nova_holistic.api.errors import ApiError
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

GROUPS = 'holistic_groups'
MEMBERS = 'holistic_members'
PLANS = 'holistic_plans'

# The last is the error of oslo.limit for an endpoint that is not in the
# catalog.
_UNAVAILABLE = (
    limit_exceptions.SessionInitError, ks_exceptions.ClientException,
    sdk_exceptions.SDKException, ValueError)


class Limits(Protocol):
    """The limits of projects."""

    def must_allow(self, project_id: str,
                   more: Mapping[str, int]) -> None:
        """Check that a project may have further resources.

        :param more: resource to the additional amount
        :raises ApiError: 403, the request exceeds a limit of the project
        """


class _Usage:
    def __init__(self, table: PlacementTable):
        self._counts = {GROUPS: table.listing.number,
                        MEMBERS: table.listing.number_of_members,
                        PLANS: table.listing.number_of_plans}

    def __call__(self, project_id: str,
                 resources: Collection[str]) -> dict[str, int]:
        return {name: self._counts[name](project_id) for name in resources}


class ConfiguredLimits:
    """Limits from the configuration, with the same values for every
    project."""

    def __init__(self, conf, table: PlacementTable):
        self._usage = _Usage(table)
        self._limits = {
            GROUPS: conf.holistic_api.max_groups_per_project,
            MEMBERS: conf.holistic_api.max_members_per_project,
            PLANS: conf.holistic_api.max_plans_per_project}

    def must_allow(self, project_id: str,
                   more: Mapping[str, int]) -> None:
        """See ``Limits``."""
        limited = [name for name in more if self._limits[name] >= 0]
        for name, used in self._usage(project_id, limited).items():
            if used + more[name] > self._limits[name]:
                raise _over(name, self._limits[name], used, more[name])


class UnifiedLimits:
    """Limits from keystone, by project."""

    def __init__(self, table: PlacementTable):
        self._usage = _Usage(table)
        self._enforcer: Any = None

    def must_allow(self, project_id: str,
                   more: Mapping[str, int]) -> None:
        """See ``Limits``."""
        try:
            # Not when the process starts: keystone may start later.
            if self._enforcer is None:
                self._enforcer = limit.Enforcer(self._usage, cache=False)
            self._enforcer.enforce(project_id, dict(more))
        except limit_exceptions.ProjectOverLimit as error:
            first = error.over_limit_info_list[0]
            raise _over(first.resource_name, first.limit,
                        first.current_usage, first.delta) from error
        except _UNAVAILABLE as error:
            LOG.error('Limits of project %s: %s', project_id, error)
            raise ApiError(503, 'limits_unavailable',
                           'keystone does not provide the limits') from error


def from_conf(conf, table: PlacementTable) -> Limits:
    if conf.holistic_api.limits == 'oslo_limit':
        return UnifiedLimits(table)
    return ConfiguredLimits(conf, table)


def _over(name: str, limit: int, used: int, more: int) -> ApiError:
    return ApiError(
        403, 'over_limit',
        f'{name}: the limit of the project is {limit}; {used} are in use, and '
        f'{more} more are requested')
