# SPDX-License-Identifier: Apache-2.0
"""The parts of a parent of a federation, from their configuration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
import time
from typing import Any

import futurist

from nova_holistic.boot.credential_cipher import CredentialCipher, InvalidKey
from nova_holistic.cli.components.connections import NotConfigured
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation import children_file
from nova_holistic.federation.credentials import operator_file
from nova_holistic.federation.credentials.registered import (
    RegisteredCredentials)
from nova_holistic.federation.credentials.registrations import Registrations
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.engines import (
    FederatedEngines, ParentOperations)
from nova_holistic.federation.facts.fact_reader import FactReader
from nova_holistic.federation.facts.known_facts import KnownFacts
from nova_holistic.federation.group_changes import GroupChanges
from nova_holistic.federation.group_placer import GroupPlacer
from nova_holistic.federation.http.traffic import HttpLimits
from nova_holistic.federation.offers.dependencies import Dependencies
from nova_holistic.federation.offers.history import History
from nova_holistic.federation.planners import Planners
from nova_holistic.federation.recovery.found_parts import (
    found_parts as parts_of_child, FoundPart)
from nova_holistic.federation.refresh import Refresh
from nova_holistic.federation.update.group_tasks import GroupTasks
from nova_holistic.federation.update.group_updater import GroupUpdater
from nova_holistic.federation.update.part_settler import PartSettler
from nova_holistic import policies
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.table.store import PlacementTable

Clock = Callable[[], datetime]
OPERATOR = 'operator'
"""Stands for a user in requests with a credential of the operator. The name
of a user and a project has a space."""


@dataclass(frozen=True, slots=True)
class Federation:
    """The parts that the API of a parent uses."""

    engines: FederatedEngines
    registrations: Registrations


def federation(conf: Any, table: PlacementTable,
               clock: Clock) -> Federation | None:
    """The parts that the API of a parent uses; None if this service is not a
    parent.

    :param clock: returns naive UTC
    :raises UnreadableFile: the file of children cannot be read
    :raises InvalidDocument: the file or ``order`` is invalid
    :raises NotConfigured: a key of [boot] is invalid
    """
    if not conf.federation.children:
        return None
    entries = children_file.read(conf.federation.children)
    children_file.check_order(conf.federation.order, entries)
    stored = _stored(conf, table, clock)
    children = UserChildren(entries, _limits(conf), stored, clock,
                            conf.federation.parent_id)
    types = policies.load_policy_types()
    planners = Planners(
        conf, children, known_facts(conf, children, clock), Dependencies(
            policy_types=types, backend=load_backend('highs'),
            history=History(), clock=clock, timer=time.monotonic,
            sleep=time.sleep,
            map_all=_parallel(len(entries))))
    engines = assembled(conf, table, children, planners, clock)
    return Federation(engines, Registrations(children, stored))


def assembled(conf: Any, table: PlacementTable, children: UserChildren,
              planners: Planners, clock: Clock) -> FederatedEngines:
    """The engines of a parent over these children."""
    types = policies.load_policy_types()
    seconds = conf.federation.offer_seconds
    settler = PartSettler(table, children, types, seconds, clock)
    refresh = Refresh(table, children, settler,
                      conf.federation.refresh_interval, clock)
    tasks = GroupTasks(
        table, children,
        GroupPlacer(conf, table, children, planners, types, clock),
        GroupUpdater(conf, table, planners, settler, refresh, types, clock),
        refresh, seconds, clock)
    return FederatedEngines(conf, table, ParentOperations(
        tasks, planners, GroupChanges(table, children, refresh, types, clock),
        refresh), clock)


def known_facts(conf: Any, children: UserChildren,
                clock: Clock) -> KnownFacts:
    """The facts in the file of children, refreshed with the operator's
    credentials.

    :raises UnreadableFile: the file of credentials cannot be read
    :raises InvalidDocument: the file of credentials is invalid
    """
    options = conf.federation
    found = operator_file.read(
        options.fact_credentials, '[federation] fact_credentials',
        [*children.entries]) if options.fact_credentials else {}
    return KnownFacts(
        tuple(children.entries.values()),
        {name: FactReader(children.exchange(name, auth, OPERATOR, 'compute'),
                          children.exchange(name, auth, OPERATOR, 'placement'),
                          clock).read for name, auth in found.items()},
        options.facts_ttl, clock)


def found_parts(conf: Any, clock: Clock, all_projects: bool,
                credentials: str) -> Sequence[FoundPart]:
    """The parts of this parent's groups in its children.

    :param all_projects: whether the credentials may read the groups of all
        projects
    :param credentials: name of the file of the operator's credentials
    :raises UnreadableFile: a file cannot be read
    :raises InvalidDocument: a file is invalid, or lacks a child
    :raises ChildFailed: a child does not answer, or refuses
    :raises InvalidAnswer: an answer is not the document of the API
    """
    entries = children_file.read(conf.federation.children)
    children = UserChildren(entries, _limits(conf), None, clock)
    found = operator_file.read(
        credentials, '--credentials', [*children.entries])
    for name in children.entries:
        if name not in found:
            raise InvalidDocument(
                f'{credentials}: credentials', f'child {name} is missing; it '
                'may have parts of groups')
    return [part for name in children.entries for part in parts_of_child(
        children.exchange(name, found[name], OPERATOR),
        conf.federation.parent_id, all_projects)]


def _stored(conf: Any, table: PlacementTable,
            clock: Clock) -> RegisteredCredentials | None:
    if not conf.boot.encryption_keys:
        return None
    try:
        cipher = CredentialCipher(conf.boot.encryption_keys)
    except InvalidKey as error:
        raise NotConfigured(str(error)) from error
    return RegisteredCredentials(table.child_credentials, cipher, clock)


def _limits(conf: Any) -> HttpLimits:
    options = conf.federation
    return HttpLimits(
        seconds=options.request_timeout, most_bytes=options.max_answer,
        per_second=options.max_rate)


def _parallel(children: int) -> Callable[..., Any]:
    """Like ``map``; requests to several children at the same time. The
    threads start with the first request, so that the process may fork
    before."""
    return futurist.ThreadPoolExecutor(
        min(children, _MOST_AT_ONCE) * 2).map


_MOST_AT_ONCE = 32
"""Children to which one process sends requests at the same time, for each of
two groups."""
