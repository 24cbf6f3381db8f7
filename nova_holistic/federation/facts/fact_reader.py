# SPDX-License-Identifier: Apache-2.0
"""Reads facts about a child from its Nova and its Placement, with a credential
of the operator that is used only to read."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from oslo_log import log as logging

from nova_holistic.documents.validation import validator
from nova_holistic.exceptions import HolisticError
from nova_holistic.federation.child import Refusal
from nova_holistic.federation.errors import ChildFailed
from nova_holistic.federation.facts.facts import Facts
from nova_holistic.federation.facts.share_in_use import (
    check_inventories, Hosts, ready, sample, share_in_use)
from nova_holistic.federation.http.child_request import ChildRequest
from nova_holistic.federation.http.exchange import Exchange
from nova_holistic.model.frozen import FrozenMapping

LOG = logging.getLogger(__name__)

_COMPUTE = 'compute 2.53'
_PLACEMENT = 'placement 1.6'
"""The first versions of the two APIs with all data that this module reads.
From version 2.88 on, Nova requests the uptime of every compute for a list of
hypervisors with details."""
_PAGE = 1000
_AMOUNTS = {'VCPU': 'vcpus', 'MEMORY_MB': 'memory_mb'}
"""Resource classes of which a server cannot get more than the host has, with
the keys of a hypervisor in Nova's API."""
_NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255}
# It is part of the path of a request.
_ID = {**_NAME, 'pattern': r'^[A-Za-z0-9-]+\Z'}


def _list_of(key: str, properties: Mapping[str, Any]) -> validator:
    return validator({'type': 'object', 'required': [key], 'properties': {
        key: {'type': 'array', 'maxItems': 100_000, 'items': {
            'type': 'object', 'required': list(properties),
            'properties': dict(properties)}}}})


_check_zones = _list_of('availabilityZoneInfo', {'zoneName': _NAME})
_check_aggregates = _list_of('aggregates', {'name': _NAME})
_check_hosts = _list_of('hypervisors', {
    'id': _ID, **{name: {'type': 'integer', 'minimum': 0}
                  for name in _AMOUNTS.values()}})
_check_traits = validator({
    'type': 'object', 'required': ['traits'], 'properties': {
        'traits': {'type': 'array', 'maxItems': 100_000, 'items': _NAME}}})


class FactReader:
    """Reads facts. Facts that the child does not show to the credential remain
    unknown."""

    def __init__(self, compute: Exchange, placement: Exchange,
                 clock: Callable[[], datetime]):
        """
        :param compute: requests to the child's Nova
        :param placement: requests to the child's Placement
        :param clock: returns naive UTC
        """
        self._compute = compute
        self._placement = placement
        self._clock = clock

    def read(self) -> Facts:
        """The current facts. An error makes a fact unknown and is logged."""
        hosts = self._known(lambda: list(self._hosts()))
        return Facts(
            zones=self._known(self._zones),
            traits=self._known(self._traits),
            aggregates=self._known(self._aggregates),
            largest=None if hosts is None else _largest(hosts),
            all_classes=False,
            share_in_use=self._known(
                lambda: None if hosts is None else self._share(ready(hosts))),
            read_at=self._clock())

    def _known(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except HolisticError as error:
            LOG.warning('A fact about child %s is not known: %s',
                        self._compute.child, error)
        except Exception:
            # An unexpected answer of one child must not prevent the use of the
            # other facts and of other children.
            LOG.exception('A fact about child %s is not known, because its '
                          'answer could not be processed',
                          self._compute.child)
        return None

    def _zones(self) -> frozenset[str]:
        found = _get(self._compute, '/os-availability-zone', _COMPUTE)
        _check_zones(found)
        return frozenset(
            each['zoneName'] for each in found['availabilityZoneInfo'])

    def _aggregates(self) -> frozenset[str]:
        found = _get(self._compute, '/os-aggregates', _COMPUTE)
        _check_aggregates(found)
        return frozenset(each['name'] for each in found['aggregates'])

    def _traits(self) -> frozenset[str]:
        found = _get(self._placement, '/traits?associated=true', _PLACEMENT)
        _check_traits(found)
        return frozenset(found['traits'])

    def _share(self, hosts: Hosts) -> float | None:
        found = []
        for provider in sample(hosts):
            answer = _get(
                self._placement, f'/resource_providers/{provider}/inventories',
                _PLACEMENT)
            check_inventories(answer)
            found.append(answer['inventories'])
        return share_in_use(hosts, found)

    def _hosts(self) -> Iterator[Mapping[str, Any]]:
        query, seen = f'limit={_PAGE}', set()
        while True:
            page = _get(self._compute, f'/os-hypervisors/detail?{query}',
                        _COMPUTE)
            _check_hosts(page)
            yield from page['hypervisors']
            last = page['hypervisors'] and page['hypervisors'][-1]['id']
            if not page.get('hypervisors_links') or not last or last in seen:
                return
            seen.add(last)
            query = f'limit={_PAGE}&marker={last}'


def _largest(hosts: Hosts) -> Mapping[str, int]:
    return FrozenMapping({
        name: max((host[key] for host in hosts), default=0)
        for name, key in _AMOUNTS.items()})


def _get(exchange: Exchange, path: str, version: str) -> Any:
    answer = exchange.send(ChildRequest('GET', path, version='', headers={
        'OpenStack-API-Version': version}))
    if isinstance(answer, Refusal):
        raise ChildFailed('; '.join(
            reason.message for reason in answer.reasons))
    return answer.document
