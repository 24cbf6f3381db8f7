# SPDX-License-Identifier: Apache-2.0
"""The current definition of a group."""

import dataclasses

from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.policies import membership
from nova_holistic.table.records import GroupRecord, GroupStatus

GROUP = 'b2b7a2a8-9f0a-4f3c-8a47-1f2f3c6b7d55'


def record(document):
    return GroupRecord(
        uuid=GROUP, name='g', project_id='p', user_id='u',
        status=GroupStatus.PLANNED, document=document, objective='spread')


def test_a_changed_document_is_parsed_again():
    types = load_policy_types()
    before = record({'name': 'g', 'members': [
        {'name': 'a', 'resources': {'VCPU': 1}}]})
    first = membership.parsed_group(before, types)
    assert [m.path for m in first.all_members()] == ['a']
    assert membership.parsed_group(before, types) is first
    after = dataclasses.replace(before, document={'name': 'g', 'members': [
        {'name': 'b', 'resources': {'VCPU': 1}}]})
    assert [m.path for m in membership.parsed_group(after, types)
            .all_members()] == ['b']
