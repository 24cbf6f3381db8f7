# SPDX-License-Identifier: Apache-2.0
"""Splitting loses no member and violates no policy.

The independent check evaluates the original document on one topology whose
outermost level is the cloud.
"""

import copy

from hypothesis import event, given, HealthCheck, strategies as st

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.federation.recovery.merged_document import (
    merged_document)
from nova_holistic.federation.results import Placed, Refused
from nova_holistic.federation.splitting.part_documents import PartDocuments
from nova_holistic.federation.splitting.parts import divide
from nova_holistic.model.plan import Plan
from nova_holistic.solver.solve import solve
from tests.effort import examples
from tests.unit.federation import documents
from tests.unit.federation.clouds import Federation, objections, TYPES

_CASES = examples(40, HealthCheck.data_too_large)


def confined(document):
    """Return the document with the explicit rule that a parent applies: a
    spread over domains of a finer level counts only the domains of one cloud.
    """
    found = copy.deepcopy(document)
    for group in _all_groups(found):
        if any(policy['type'] == 'spread' and policy['level'] != 'cloud'
               for policy in group.get('policies', ())):
            group['policies'].append({'type': 'affinity', 'level': 'cloud'})
    return found


def _all_groups(group):
    yield group
    for each in group.get('groups', ()):
        yield from _all_groups(each)


@examples(100)
@given(documents.groups(), st.randoms(use_true_random=False))
def test_the_documents_of_the_parts_have_every_member_once(document, random):
    division = divide(document, TYPES, documents.CLOUDS)
    together = [path for part in division.parts for path in part.paths]
    assert sorted(together) == sorted(
        m.path for m in parse_group(document, TYPES).all_members())
    chosen = {name: [] for name in documents.CLOUDS}
    for part in division.parts:
        chosen[random.choice(documents.CLOUDS)].extend(part.paths)
    writer, parts = PartDocuments(division), []
    for cloud, paths in chosen.items():
        if paths:
            written = writer.document(paths, cloud)
            parts.append((cloud, written))
            assert sorted(m.path for m in parse_group(
                written, TYPES).all_members()) == sorted(paths)
            assert 'cloud' not in {
                rule.get('level') for group in _all_groups(written)
                for key in ('policies', 'relationships')
                for rule in group.get(key, ())}
    # A parent that has lost its table reads the members from the parts.
    assert sorted(m.path for m in parse_group(
        merged_document(parts), TYPES).all_members()) == sorted(together)


@_CASES
@given(documents.groups(), documents.snapshots())
def test_a_placement_satisfies_the_policies_of_the_document(
        document, snapshots):
    federation = Federation(**snapshots)
    found = federation.place(document)
    able = clouds_for_the_whole(document, snapshots)
    event(type(found).__name__)
    event(f'{len(able)} clouds can take the whole group')
    if isinstance(found, Placed):
        event(f'{len(found.parts)} clouds have parts')
        group = parse_group(confined(document), TYPES)
        assert not objections(group, snapshots, federation.placement(found))
        paths = [path for part in found.parts for path in part.paths]
        assert sorted(paths) == sorted(m.path for m in group.all_members())
        if able:
            # A group that one cloud can take is not split.
            assert [part.child in able for part in found.parts] == [True]
    else:
        assert isinstance(found, Refused)
        assert found.reasons
        assert not able
        assert federation.held() == {}


def clouds_for_the_whole(document, snapshots):
    """Return the clouds that can take the whole group. The list is empty if
    its policies may require several clouds."""
    division = divide(document, TYPES, documents.CLOUDS)
    if division.separates:
        return []
    writer = PartDocuments(division)
    return [name for name, snapshot in snapshots.items()
            if all(name in part.clouds for part in division.parts)
            and isinstance(solve(parse_group(writer.document(
                division.paths, name), TYPES), snapshot), Plan)]
