# SPDX-License-Identifier: Apache-2.0
"""The server that a group gets when all planned servers of a member exist."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nova_holistic.model.elastic.counts import replicas_of, servers_of
from nova_holistic.model.group import Group
from nova_holistic.model.members.bounds import free_number, numbered
from nova_holistic.model.members.member import Member, MemberDescription


class NotGrown(Exception):
    """The group gets no additional server there. The message has the
    reason."""


class AtMaximum(NotGrown):
    """The member, or a group around it, has reached its maximum."""


@dataclass(frozen=True, slots=True)
class Existing:
    """Paths of the servers of a group.

    :ivar live: servers that are planned or exist
    :ivar returned: deleted servers whose places were returned; other servers
        may take these paths
    :ivar withdrawn: servers that their user has released; no other server may
        take these paths
    """

    live: Collection[str]
    returned: Collection[str] = frozenset()
    withdrawn: Collection[str] = frozenset()


def next_server(group: Group, path: str, existing: Existing) -> Member:
    """The server that a create with this pointer adds.

    :param group: the group as its document describes it
    :param path: path of a member or of one of its servers
    :raises NotGrown: the member has reached its maximum or is not known
    """
    *groups, name = path.split('/')
    owner, prefix = _nested(group, groups, existing)
    description = _description(owner, name)
    if description is None:
        raise NotGrown(f'there is no member {path!r}')
    existing_servers = servers_of(description, prefix, existing.live)
    if description.bounds is None:
        # A new replica has none of its servers yet.
        free = [each for each in description.server_names()
                if (prefix + each in existing.returned
                    or owner.bounds and each not in existing_servers)
                and prefix + each not in existing.withdrawn
                and name in (each, description.name)]
        if not free:
            raise NotGrown(f'all servers of member {path!r} are taken')
        return _member(description, prefix, free[0])
    if len(existing_servers) >= description.bounds.most:
        raise AtMaximum(
            f'member {prefix + description.name!r} has '
            f'{len(existing_servers)} servers, '
            f'and its maximum is {description.bounds.most}')
    if name != description.name:
        if name in existing_servers:
            raise NotGrown(f'member {path!r} is taken by another server')
        if path in existing.withdrawn:
            raise NotGrown(f'member {path!r} has been released')
        return _member(description, prefix, name)
    used = existing_servers | servers_of(
        description, prefix, existing.withdrawn)
    number = free_number({numbered(description.name, each) for each in used})
    return _member(description, prefix, f'{description.name}-{number}')


def is_surplus(group: Group, path: str, live: Collection[str]) -> bool:
    """Whether the group has the desired number of servers without this member,
    whose server was deleted.

    :param live: paths of the servers that are planned or exist
    """
    others = [each for each in live if each != path]
    *groups, name = path.split('/')
    owner, prefix = group, ''
    for nested in groups:
        template = _template(owner, nested)
        if template is not None and template.bounds:
            replicas = replicas_of(template, prefix, others)
            number = numbered(template.name, nested)
            if len(replicas - {number}) >= template.bounds.desired:
                return True
            owner = template
        else:
            found = [each for each in owner.groups if each.name == nested]
            if not found:
                return False
            owner = found[0]
        prefix += nested + '/'
    description = _description(owner, name)
    return (description is not None and description.bounds is not None
            and len(servers_of(description, prefix, others))
            >= description.bounds.desired)


def _nested(group: Group, names: Sequence[str],
            existing: Existing) -> tuple[Group, str]:
    """The group with these names, and the prefix of the paths below it."""
    prefix = ''
    for name in names:
        template = _template(group, name)
        if template is not None and template.bounds:
            replicas = replicas_of(template, prefix, existing.live)
            if (numbered(template.name, name) not in replicas
                    and len(replicas) >= template.bounds.most):
                raise AtMaximum(
                    f'group {prefix + template.name!r} has {len(replicas)} '
                    'replicas, and its maximum is '
                    f'{template.bounds.most}')
            group = template
        else:
            found = [each for each in group.groups if each.name == name]
            if not found:
                raise NotGrown(f'there is no group {prefix + name!r}')
            group = found[0]
        prefix += name + '/'
    return group, prefix


def _template(group: Group, name: str) -> Group | None:
    return next((each for each in group.templates
                 if numbered(each.name, name) is not None), None)


def _description(group: Group, name: str) -> MemberDescription | None:
    return next((
        each for each in group.members
        if name == each.name or name in each.server_names()
        or each.bounds and numbered(each.name, name) is not None), None)


def _member(description: MemberDescription, prefix: str,
            name: str) -> Member:
    return Member(prefix + name, prefix + description.name,
                  description.requirements)
