# SPDX-License-Identifier: Apache-2.0
"""Checks of updates that change members with servers."""

from nova_holistic.api.call import Call
from nova_holistic.api import errors
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.requests import microversions
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.table.records import GroupRecord

APPLY = 'apply'
REBUILT = 'rebuilt'
"""Parameter of the task: paths of the members whose image is changed."""


def must_be_known(call: Call) -> None:
    """
    :raises InvalidDocument: the version of the request does not have the key
    """
    if APPLY in call.body and not microversions.has(
            call.request, microversions.ACTIONS):
        raise InvalidDocument(
            APPLY, f'requires version {microversions.ACTIONS} of the API')


def changed_images(call: Call, record: GroupRecord, before: Group,
                   after: Group) -> dict[str, list[str]]:
    """The parameters of the task: members whose servers may have to be
    rebuilt.

    :param before: the group as it is defined now
    """
    if {None} == {_image(member) for group in (before, after)
                  for member in group.all_members()}:
        return {}
    paths = call.service.table.listing.live_paths(record.uuid)
    images = {member.path: _image(member)
              for member in before.resized(paths).all_members()}
    return {REBUILT: [
        member.path for member in after.resized(paths).all_members()
        if images.get(member.path, _image(member)) != _image(member)]}


def _image(member: Member) -> object:
    return member.requirements.image


def task_arguments(call: Call, record: GroupRecord) -> dict[str, bool]:
    """The parameters of the task: an engine lists actions, and carries them
    out.

    An engine acts with its own rights in Nova, which include those of an
    administrator.

    :raises ApiError: 403, the caller may not have actions carried out
    """
    if not microversions.has(call.request, microversions.ACTIONS):
        return {}
    if not call.body.get(APPLY):
        return {'actions': True}
    if not call.service.policy_enforcer.may_with(
            call.context, rules.APPLY_ACTIONS, record):
        raise errors.forbidden(
            rules.APPLY_ACTIONS, APPLY,
            'without this right, carry out the listed actions in Nova')
    return {'actions': True, 'apply': True}
