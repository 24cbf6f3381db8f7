# SPDX-License-Identifier: Apache-2.0
"""The input of a handler, and its output."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import json
import re
import threading
from typing import Any, Protocol

import webob

from nova_holistic.api.checks.definition_rights import DefinitionRights
from nova_holistic.api.checks.limits import Limits
from nova_holistic.api.checks.nova_quota import NovaQuota
from nova_holistic.api.context import RequestContext
from nova_holistic.api import errors
from nova_holistic.api.pending_groups import PendingGroups
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.policy_enforcer import Owned, PolicyEnforcer
from nova_holistic.api.schemas import common
from nova_holistic.api.url_mapping import UrlMapping
from nova_holistic.boot.rights import Rights
from nova_holistic.federation.credentials.registrations import Registrations
from nova_holistic.messaging.context import RequestContext as EngineContext
from nova_holistic.messaging.results import Released, ShownBinding
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.records import GroupRecord, PlanRecord
from nova_holistic.table.store import PlacementTable


class Engines(Protocol):
    """The planner's interface: EngineClient, or an engine in this process."""

    def plan_group(self, context: EngineContext, group_uuid: str) -> None:
        ...

    def plan(self, context: EngineContext, plan_uuid: str) -> None:
        ...

    def release(self, context: EngineContext, group_uuid: str,
                members: list[str] | None,
                revision: int | None) -> Released:
        ...

    def extend(self, context: EngineContext, group_uuid: str,
               seconds: int, revision: int | None) -> None:
        ...

    def delete(self, context: EngineContext, group_uuid: str,
               revision: int | None) -> None:
        ...

    def bind(self, context: EngineContext, group_uuid: str, path: str,
             server_group: str) -> ShownBinding:
        ...

    def bindings(self, context: EngineContext,
                 group_uuid: str) -> Sequence[ShownBinding]:
        ...

    def update_resource_stats(self, context: EngineContext, name: str,
                              stats: Mapping[str, float]) -> None:
        ...


class ParentEngines(Engines, Protocol):
    """The interface of the engines of a parent of a federation."""

    def refresh(self, context: EngineContext, record: GroupRecord) -> None:
        ...

    def refresh_plan(self, context: EngineContext,
                     record: PlanRecord) -> None:
        ...

    def must_accept(self, parents: Sequence[str]) -> None:
        ...

    def must_be_updatable(self, record: GroupRecord,
                          document: Mapping[str, Any]) -> None:
        ...

    def detach(self, context: EngineContext, group_uuid: str,
               path: str, revision: int | None) -> None:
        ...


@dataclass(frozen=True, slots=True)
class Service:
    """The services that handlers use.

    :ivar description: returns the OpenAPI description
    :ivar clock: returns naive UTC
    :ivar timer: returns seconds since an arbitrary time
    :ivar sleep: waits for a number of seconds
    :ivar waiters: a semaphore that each waiting request acquires
    :ivar is_pending: whether engines work on a group; requests that wait share
        its reads
    :ivar quota: None if Nova's quota is not checked
    :ivar user_rights: None if engines create no servers
    :ivar federation: the engines, if the service is a parent
    :ivar credentials: of users for children; None if the service is not a
        parent, or stores no credentials
    """

    conf: Any
    table: PlacementTable
    engines: Engines
    policy_enforcer: PolicyEnforcer
    limits: Limits
    rights: DefinitionRights
    policy_types: PolicyTypes
    places: UrlMapping
    description: Callable[[], Mapping[str, Any]]
    clock: Callable[[], datetime]
    timer: Callable[[], float]
    sleep: Callable[[float], None]
    waiters: threading.Semaphore
    is_pending: PendingGroups
    quota: NovaQuota | None = None
    user_rights: Rights | None = None
    federation: ParentEngines | None = None
    credentials: Registrations | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A request that has passed the policy and the schemas of its route.

    :ivar rule: rule of the route's policy
    :ivar names: variables in the path
    :ivar body: parsed body; None if the route takes none
    """

    service: Service
    request: webob.Request
    context: RequestContext
    rule: str | None
    names: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any

    def group(self, rule: str | None = None) -> GroupRecord:
        """The group of the path, if the caller may perform the operation on
        it.

        :raises ApiError: 404, or 403 in the caller's own project
        """
        name = self.names['group_id']
        missing = errors.not_found('group', name)
        record = (self.service.table.get_group(name)
                  if re.fullmatch(common.UUID['pattern'], name) else None)
        if record is None:
            raise missing
        self.service.policy_enforcer.must_with(
            self.context, rule or self.rule, record, missing)
        return record

    def plan(self) -> PlanRecord:
        """The plan of the path, with the same checks."""
        name = self.names['plan_id']
        missing = errors.not_found('plan', name)
        record = (self.service.table.plans.get(name)
                  if re.fullmatch(common.UUID['pattern'], name) else None)
        if record is None:
            raise missing
        self.service.policy_enforcer.must_with(
            self.context, self.rule, record, missing)
        return record

    def may_exceed_limits(self, owner: Owned) -> bool:
        return self.service.policy_enforcer.may_with(
            self.context, rules.EXCEED_LIMITS, owner)

    def must_be_within_limits(self, owner: Owned,
                              more: Mapping[str, int]) -> None:
        """
        :param owner: the record whose project needs more; for a new record,
            the context
        :param more: resource to the additional amount
        :raises ApiError: 403, the request exceeds a limit
        """
        if not self.may_exceed_limits(owner):
            self.service.limits.must_allow(owner.project_id, more)

    def url(self, path: str) -> str:
        """The URL that clients use for a path of the table of routes."""
        return self.request.application_url + self.service.places.of(path)


def answer(status: int, body: Any = None,
           headers: Mapping[str, str] | None = None) -> webob.Response:
    """A JSON response; without a document, an empty body without a media
    type."""
    response = webob.Response(status=status)
    if body is None:
        del response.content_type
    else:
        response.content_type = 'application/json'
        response.charset = None
        response.body = json.dumps(body).encode()
    response.headers.update(headers or {})
    return response
