# SPDX-License-Identifier: Apache-2.0
"""Decides whether the facts about a child exclude a document."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from nova_holistic.federation.child import Document
from nova_holistic.federation.facts.facts import Facts


def current(facts: Facts | None, now: datetime, lifetime: float) -> Facts:
    """The facts, or no facts if they were read too long ago.

    :param lifetime: seconds
    """
    if facts is None or (facts.read_at is not None and (
            now - facts.read_at > timedelta(seconds=lifetime))):
        return Facts()
    return facts


def exclusion(document: Document, facts: Facts) -> str | None:
    """Why the child cannot take the group, according to the facts; None: no
    fact excludes it.

    :param document: document in the form that the child receives
    """
    return next(_exclusions(document, facts), None)


def _exclusions(document: Document, facts: Facts) -> Iterator[str]:
    for policy in document.get('policies', ()):
        if 'weight' in policy:
            continue
        if policy['type'] == 'traits':
            yield from _missing_traits(policy, facts)
        elif policy['type'] in ('aggregates', 'availability_zone'):
            yield from _missing_places(policy, facts)
    for member in document.get('members', ()):
        yield from _missing_traits(member.get('traits', {}), facts)
        yield from _missing_places(member, facts)
        yield from _too_large(member, facts)
    for group in document.get('groups', ()):
        yield from _exclusions(group, facts)


def _missing_traits(wanted: Mapping[str, Any], facts: Facts) -> Iterator[str]:
    if facts.traits is not None:
        for trait in wanted.get('required', ()):
            if trait not in facts.traits:
                yield f'no host has trait {trait}'


def _missing_places(wanted: Mapping[str, Any], facts: Facts) -> Iterator[str]:
    zone = wanted.get('availability_zone')
    if zone is not None and facts.zones is not None and (
            zone not in facts.zones):
        yield f'there is no availability zone {zone}'
    if facts.aggregates is not None:
        for name in wanted.get('aggregates', ()):
            if name not in facts.aggregates:
                yield f'there is no aggregate {name}'


def _too_large(member: Mapping[str, Any], facts: Facts) -> Iterator[str]:
    if facts.largest is None or member.get('count') == 0:
        return
    wanted = member.get('resources') or facts.flavors.get(
        member.get('flavor', ''), {})
    for resource_class, amount in wanted.items():
        largest = facts.largest.get(resource_class, 0)
        if resource_class not in facts.largest and not facts.all_classes:
            continue
        if member.get('boot_from_volume') and resource_class == 'DISK_GB':
            continue
        if amount > largest:
            yield (f'no host has {amount} {resource_class} for one server; '
                   f'the largest has {largest}')
