# SPDX-License-Identifier: Apache-2.0
"""The content of the picture: each host with its load and the members of the
group."""

from collections.abc import Collection, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass, replace

from nova_holistic import exceptions
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Reason

_USUAL = ('VCPU', 'PCPU', 'MEMORY_MB', 'DISK_GB')


@dataclass(frozen=True, slots=True)
class Load:
    """One resource class of one host, in the class's own unit.

    :ivar before: allocated without the plan
    :ivar planned: amount that the plan adds
    """

    resource_class: str
    capacity: int
    before: int
    planned: int

    @property
    def share(self) -> float:
        """Used part of the capacity; above 1 if the host is over-committed."""
        return (self.before + self.planned) / self.capacity


@dataclass(frozen=True, slots=True)
class HostView:
    """A host with the members planned on it.

    :ivar members: paths, in the plan's order
    :ivar loads: of every resource class of which the host has capacity
    :ivar violations: violations of the plan at this host
    """

    host: Host
    members: tuple[str, ...]
    loads: tuple[Load, ...]
    violations: tuple[str, ...] = ()

    @property
    def tightest(self) -> Load | None:
        """The load with the largest share; None for a host without any."""
        return max(self.loads, key=lambda load: load.share, default=None)

    def groups(self) -> Mapping[str, int]:
        """Number of members on this host by the path of their group,
        sorted."""
        return dict(sorted(Counter(map(group_of, self.members)).items()))


@dataclass(frozen=True, slots=True)
class Scene:
    """A plan together with its snapshot.

    :ivar complete: whether loads include the amounts that the plan adds
    :ivar violations: all violations of the plan, one line each
    """

    plan: Plan
    levels: tuple[str, ...]
    hosts: tuple[HostView, ...]
    complete: bool
    violations: tuple[str, ...] = ()

    def groups(self) -> Mapping[str, int]:
        """Number of members by the path of their group, sorted."""
        paths = (group_of(p.member) for p in self.plan.placements)
        return dict(sorted(Counter(paths).items()))

    def classes(self) -> tuple[str, ...]:
        """Resource classes with a bar: the standard classes first, then the
        others by name."""
        classes = {load.resource_class for view in self.hosts
                   for load in view.loads}
        usual = [name for name in _USUAL if name in classes]
        return (*usual, *sorted(classes.difference(usual)))


def group_of(member: str) -> str:
    """Path of the group that a member belongs to; '' for the top-level one."""
    return member.rpartition('/')[0]


def scene(snapshot: Snapshot, plan: Plan, group: Group | None = None,
          placed: Collection[str] = frozenset(),
          violations: Sequence[Reason] = ()) -> Scene:
    """Create the content of the picture of a plan.

    :param group: if it is given, the picture shows the amounts that each
        member adds to its host
    :param placed: members whose usage the snapshot already contains
    :param violations: of the group's policies and requirements
    :raises InvalidDocument: the snapshot does not contain a host of the plan,
        or a flavor or level of the group
    """
    _require_hosts(snapshot, plan)
    demands: dict[str, Mapping[str, int]] = {}
    if group is not None:
        demands = {member.path: member.requirements.resources
                   for member in bind(group, snapshot).all_members()
                   if member.path not in placed}
    members: dict[str, list[str]] = {}
    for placement in plan.placements:
        members.setdefault(placement.host, []).append(placement.member)
    views = tuple(replace(
        _view(host, members.get(host.name, []), demands),
        violations=tuple(violation_text(reason) for reason in violations
                         if _concerns(
                             reason, host, members.get(host.name, []))))
        for host in snapshot.hosts)
    return Scene(plan, snapshot.levels, views, group is not None,
                 tuple(map(violation_text, violations)))


def violation_text(reason: Reason) -> str:
    """The violation in one line."""
    return f'{reason.at}: {reason.message}' if reason.at else reason.message


def _concerns(reason: Reason, host: Host, members: Collection[str]) -> bool:
    """Whether the violation is about a member on the host, or names the host
    or a domain around it."""
    if not members:
        return False
    if not set(reason.at.split(', ')).isdisjoint(members):
        return True
    around = {'/'.join(host.location[:depth + 1])
              for depth in range(len(host.location))}
    around |= {host.name, '/'.join((*host.location, host.name)),
               *host.labels.values()}
    return not around.isdisjoint(reason.names or ())


def _require_hosts(snapshot: Snapshot, plan: Plan) -> None:
    names = {host.name for host in snapshot.hosts}
    for index, placement in enumerate(plan.placements):
        if placement.host not in names:
            raise exceptions.InvalidDocument(
                f'placements[{index}].host',
                f'host {placement.host!r} is not in the inventory')


def _view(host: Host, members: list[str],
          demands: Mapping[str, Mapping[str, int]]) -> HostView:
    added: Counter[str] = Counter()
    for member in members:
        added.update(demands.get(member, {}))
    loads = tuple(
        Load(name, inventory.capacity, inventory.used, added[name])
        for name, inventory in host.inventories.items()
        if inventory.capacity > 0)
    return HostView(host, tuple(members), loads)
