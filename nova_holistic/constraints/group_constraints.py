# SPDX-License-Identifier: Apache-2.0
"""Hosts that Nova would refuse for a member are not planned for it.

Such a host gets a trait in the snapshot, and the description of the member
forbids this trait. Refusals that the planner has learnt are handled in the
same way.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass, field, replace
import functools

from nova_holistic.constraints import default_zone_scope
from nova_holistic.constraints.filter_table import rules_in_force
from nova_holistic.constraints.filters import num_instances, server_groups
from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.planner_names import planner_names, PREFIX
from nova_holistic.constraints.rule import facts_of, HostFacts, ServerRequest
from nova_holistic.constraints.server_limits import Limit, with_limits
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.messages.cloud_totals import part, total
from nova_holistic.model.messages.marked_text import format_message, joined
from nova_holistic.model.nova.image import Image
from nova_holistic.model.nova.requested_traits import requested_traits
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy import Policy


@dataclass(frozen=True, slots=True)
class PlanningContext:
    """The planner's data other than the group and the snapshot.

    :ivar project_id: project of the group; None if it is not known
    :ivar placed: host names by path of members that stay on their hosts
    :ivar own_servers: UUIDs of servers of the group
    :ivar servers: number of consumers on each host by its name; empty if Nova
        does not limit the number of servers
    """

    project_id: str | None = None
    placed: Mapping[str, str] = field(default_factory=FrozenMapping)
    own_servers: Collection[str] = ()
    servers: Mapping[str, int] = field(default_factory=FrozenMapping)


def with_refusals(snapshot: Snapshot, group: Group, situation: PlanningContext,
                  options: NovaOptions) -> tuple[Snapshot, tuple[Reason, ...]]:
    """The snapshot with traits and limits for the members of the group.

    :returns: the snapshot, and additional reasons if the group cannot be
        placed
    """
    # A usual request needs no facts about the hosts.
    facts = functools.cache(
        lambda: facts_of(snapshot.hosts, snapshot.aggregates))
    limits = _limits(snapshot, group, situation, options, facts)
    traits: dict[str, set[str]] = {}
    reasons = []
    anywhere = _anywhere(group, snapshot, options)
    for trait, (paths, request, uuid) in _signatures(
            group, snapshot, situation.project_id, anywhere).items():
        refusals = _refusals(facts, request, options, snapshot)
        refusals += _affinity(snapshot, uuid, group, situation, options)
        if not refusals:
            continue
        for _, name in refusals:
            traits.setdefault(name, set()).add(trait)
        reasons.append(_reason(paths[0], trait, refusals,
                               len(snapshot.hosts)))
    hosts = snapshot.hosts
    if traits:
        hosts = tuple(
            replace(host, traits=host.traits | traits[host.name])
            if host.name in traits else host for host in hosts)
    if limits:
        hosts = with_limits(hosts, limits)
    return (snapshot if hosts is snapshot.hosts
            else replace(snapshot, hosts=hosts)), tuple(reasons)


def with_constraints(group: Group, snapshot: Snapshot, options: NovaOptions,
                     affinity: Callable[[str, str], Policy]) -> Group:
    """The group whose members respect the traits and limits that
    ``with_refusals`` added to the snapshot.

    :param affinity: creates a hard relationship of two members on one host
    """
    own = planner_names(snapshot)
    anywhere = _anywhere(group, snapshot, options)
    changed = _constrained(group, snapshot, own, anywhere, '')
    paths: dict[str, list[str]] = {}
    for member in group.all_members():
        uuid = member.requirements.server_group
        found = uuid and snapshot.server_groups.get(uuid)
        if found and found.policy == server_groups.AFFINITY and (
                server_groups.FILTERS[found.policy]
                in options.enabled_filters):
            paths.setdefault(uuid, []).append(member.path)
    pairs = tuple(affinity(*pair)
                  for pair in server_groups.colocated_pairs(paths))
    return replace(changed, relationships=(
        *changed.relationships, *pairs)) if pairs else changed


def _constrained(group: Group, snapshot: Snapshot, own: frozenset[str],
                 anywhere: frozenset[str], prefix: str) -> Group:
    return replace(
        group,
        members=tuple(
            _description(each, own, _is_anywhere(each, prefix, anywhere))
            for each in group.members),
        groups=tuple(_constrained(
            nested, snapshot, own, anywhere, f'{prefix}{nested.name}/')
            for nested in group.groups))


def _description(description: MemberDescription, own: frozenset[str],
                 is_anywhere: bool) -> MemberDescription:
    requirements = description.requirements
    trait = _trait(description, is_anywhere)
    classes = {num_instances.NAME} & own
    if requirements.server_group:
        classes |= {server_groups.class_name(requirements.server_group)} & own
    if trait not in own and not classes:
        return description
    forbidden = requirements.forbidden_traits | ({trait} & own)
    return replace(description, requirements=replace(
        requirements, forbidden_traits=forbidden,
        counted=FrozenMapping(dict.fromkeys(sorted(classes), 1))))


def _trait(description: MemberDescription, is_anywhere: bool) -> str:
    """Members with the same requests to Nova share a trait."""
    requirements = description.requirements
    image = requirements.image
    parts = [f'flavor {requirements.flavor}' if requirements.flavor
             else 'resources']
    if isinstance(image, Image):
        # Equal mappings are equal images; their text would be long.
        parts.append('image of ' + description.place)
    elif image:
        parts.append(f'image {image}')
    if requirements.boot_from_volume:
        parts.append('volume')
    if requirements.server_group:
        parts.append(f'server group {requirements.server_group}')
    if traits := frozenset[str]().union(
            *(each.required_traits for each in requirements.request_groups)):
        parts.append(f'request groups with {", ".join(sorted(traits))}')
    if is_anywhere:
        parts.append('default zone')
    return PREFIX + ', '.join(parts)


def _anywhere(group: Group, snapshot: Snapshot,
              options: NovaOptions) -> frozenset[str]:
    """Paths of members to which the default zone applies."""
    if not options.default_schedule_zone:
        return frozenset()
    return default_zone_scope.members_anywhere(group, snapshot)


def _signatures(group: Group, snapshot: Snapshot, project_id: str | None,
                anywhere: frozenset[str]
                ) -> Mapping[str, tuple[list[str], ServerRequest, str | None]]:
    """Paths of descriptions, request and server group by trait."""
    found: dict[str, tuple[list[str], ServerRequest, str | None]] = {}
    for path, description in descriptions(group):
        if description.requirements.volume is not None:
            # Nova does not schedule it.
            continue
        is_anywhere = _is_anywhere(
            description, path.removesuffix(description.name), anywhere)
        trait = _trait(description, is_anywhere)
        if trait not in found:
            found[trait] = [], _server_request(
                description, snapshot, project_id, is_anywhere
            ), description.requirements.server_group
        found[trait][0].append(path)
    return found


def _is_anywhere(description: MemberDescription, prefix: str,
                 anywhere: frozenset[str]) -> bool:
    """A constraint that applies to all members of a description."""
    return any(member.path in anywhere
               for member in description.members(prefix)[:1])


def descriptions(group: Group, prefix: str = ''
                 ) -> Iterator[tuple[str, MemberDescription]]:
    """Path and description of each description with members."""
    for each in group.members:
        if each.server_names():
            yield prefix + each.name, each
    for nested in group.groups:
        yield from descriptions(nested, f'{prefix}{nested.name}/')


def _server_request(description: MemberDescription, snapshot: Snapshot,
                    project_id: str | None,
                    is_anywhere: bool) -> ServerRequest:
    requirements = description.requirements
    flavor = requirements.flavor and snapshot.flavors.get(
        requirements.flavor) or None
    image = (snapshot.images.get(requirements.image)
             if isinstance(requirements.image, str) else requirements.image)
    return ServerRequest(
        flavor=flavor and flavor.name,
        extra_specs=flavor.extra_specs if flavor else FrozenMapping(),
        image=image, project_id=project_id,
        traits=requested_traits(flavor, image).grouped.union(
            *(each.required_traits for each in (
                *(flavor.request_groups if flavor else ()),
                *requirements.request_groups))),
        volume=requirements.boot_from_volume, is_anywhere=is_anywhere)


def _refusals(facts: Callable[[], Collection[HostFacts]],
              request: ServerRequest,
              options: NovaOptions, snapshot: Snapshot
              ) -> list[tuple[str, str]]:
    """(name of the rule, name of the host), one for each refused host."""
    host_checks = [(rule.name, admits)
                   for rule in rules_in_force(options.enabled_filters)
                   if rule.host_check is not None
                   for admits
                   in [rule.host_check(request, options, snapshot.aggregates)]
                   if admits is not None]
    if not host_checks:
        return []
    found = []
    for each in facts():
        name = next((name for name, admits in host_checks
                     if not admits(each)), None)
        if name is not None:
            found.append((name, each.host.name))
    return found


def _affinity(snapshot: Snapshot, uuid: str | None, group: Group,
              situation: PlanningContext, options: NovaOptions
              ) -> list[tuple[str, str]]:
    """Hosts other than those with existing servers of a server group."""
    found = uuid and snapshot.server_groups.get(uuid)
    name = server_groups.FILTERS[server_groups.AFFINITY]
    if not uuid or not found or found.policy != server_groups.AFFINITY or (
            name not in options.enabled_filters):
        return []
    hosts = set(_hosts_of(snapshot, uuid, group, situation))
    return [(name, host.name) for host in snapshot.hosts
            if host.name not in hosts] if hosts else []


def _hosts_of(snapshot: Snapshot, uuid: str, group: Group,
              situation: PlanningContext) -> list[str]:
    """The host names of the servers of each server group, and of its placed
    members."""
    others = [host for server, host
              in snapshot.server_groups[uuid].hosts.items()
              if server not in situation.own_servers]
    return others + [
        situation.placed[member.path] for member in group.all_members()
        if member.requirements.server_group == uuid
        and member.path in situation.placed]


def _limits(snapshot: Snapshot, group: Group, situation: PlanningContext,
            options: NovaOptions, facts: Callable[[], Sequence[HostFacts]]
            ) -> list[Limit]:
    found = []
    if num_instances.is_enabled(options):
        found.append(num_instances.limit(options, facts(), situation.servers))
    anti = server_groups.ANTI_AFFINITY
    if server_groups.FILTERS[anti] in options.enabled_filters:
        for uuid, each in snapshot.server_groups.items():
            if each.policy == anti:
                found.append(server_groups.limit(
                    uuid, snapshot.hosts, each.max_per_host,
                    _hosts_of(snapshot, uuid, group, situation)))
    return found


def _reason(path: str, trait: str, refusals: list[tuple[str, str]],
            hosts: int) -> Reason:
    counts = Counter(name for name, _ in refusals)
    listed = joined(', ', (format_message('{}{}', name, total(f' {count}', ''))
                           for name, count in sorted(counts.items())))
    return Reason.of(path, format_message(
        'Nova refuses {} for this member ({}): these have the trait {}',
        part(len(refusals), hosts), listed, repr(trait)))
