# SPDX-License-Identifier: Apache-2.0
"""Requests that an engine creates the servers of a new group."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from nova_holistic.api.call import Call
from nova_holistic.api.checks import adoption, user_right
from nova_holistic.api import errors
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.requests import microversions
from nova_holistic.documents.groups.volumes import BOOT_VOLUME, is_volume
from nova_holistic.documents.servers.server import KEY as SERVER
from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.group import Group
from nova_holistic.table.boot_records import BootRequest

KEY = 'boot'
INSTEAD = ('let the client create the servers: openstack holistic group '
           'create --boot')


def must_be_possible(call: Call, group: Group) -> None:
    """Check a request before anything is written.

    :param group: the group of the request
    :raises InvalidDocument: the version of the request does not have the key;
        or a member has no description of its server
    :raises ApiError: 400 if engines create no servers, 403 if the user may not
        request it
    """
    if KEY not in call.body:
        return
    service = call.service
    if not microversions.has(call.request, microversions.BOOTS):
        raise InvalidDocument(
            KEY, f'requires version {microversions.BOOTS} of the API')
    if not service.policy_enforcer.may(call.context, rules.BOOT):
        raise errors.forbidden(rules.BOOT, KEY, INSTEAD)
    # A parent has keys for other credentials, but no engine creates servers.
    if service.user_rights is None or service.federation is not None:
        raise errors.ApiError(
            400, 'boot_unavailable',
            f'{KEY}: this service does not create servers; {INSTEAD}')
    most = service.conf.boot.max_retries
    if call.body[KEY].get('retries', 0) > most:
        raise InvalidDocument(join(KEY, 'retries'), f'must be at most {most}')
    _must_have_servers(call.body['group'], group)


def request(call: Call, group_uuid: str) -> BootRequest | None:
    """The request for an engine, with the right to act for the user.

    To be called last, because it creates a trust.

    :raises ApiError: 403, keystone refuses the trust
    """
    if KEY not in call.body:
        return None
    boot_request = call.body[KEY]
    credential = user_right.grant(call, group_uuid, KEY, INSTEAD)
    return BootRequest(credential, boot_request.get('rollback', False),
                       boot_request.get('retries', 0), call.context.request_id)


def _must_have_servers(document: Mapping[str, Any], group: Group) -> None:
    """
    :raises InvalidDocument: with the position of each member without a
        description of its server, except for volumes and members that are
        existing servers; and of each server with a boot volume of the group
    """
    mistakes = Mistakes()
    for place in _with_boot_volume(document):
        mistakes.add(InvalidDocument(
            place, f'{KEY} creates no volumes: create the volume and the '
            'server with their pointers'))
    created = adoption.to_be_created(group, document)
    needed = {description.place for scope in created.scopes()
              for description in scope.group.members
              if description.server_names()}
    for place in _without_server(document, needed):
        mistakes.add(InvalidDocument(
            join(place, SERVER), f'is missing: {KEY} needs it'))
    mistakes.must_be_none()


def _without_server(document: Mapping[str, Any], needed: Collection[str],
                    place: str = '') -> Iterator[str]:
    """
    :param needed: positions of the descriptions of servers to be created
    """
    for number, member in enumerate(document.get('members', ())):
        position = join(place, 'members', number)
        if (SERVER not in member and not is_volume(member)
                and position in needed):
            yield position
    for number, group in enumerate(document.get('groups', ())):
        yield from _without_server(
            group, needed, join(place, 'groups', number))


def _with_boot_volume(document: Mapping[str, Any],
                      place: str = '') -> Iterator[str]:
    for number, member in enumerate(document.get('members', ())):
        if BOOT_VOLUME in member:
            yield join(place, 'members', number, BOOT_VOLUME)
    for number, group in enumerate(document.get('groups', ())):
        yield from _with_boot_volume(group, join(place, 'groups', number))
