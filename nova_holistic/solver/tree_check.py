# SPDX-License-Identifier: Apache-2.0
"""The check whether the providers of a host can serve its new members.

Each request group of a member, and each resource class that it requests
outside a request group, needs one provider. The providers outside request
groups, and the root provider, have the required traits of the member together,
and none of them has a forbidden trait. The check searches for these providers.
It shares no code with the solver's rows for provider trees.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.member_traits import of_other_providers
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.request_group import ISOLATE, RequestGroup
from nova_holistic.solver.limits.current import trees as limits


def tree_classes(new: Iterable[tuple[Member, Host]]
                 ) -> Mapping[str, frozenset[str]]:
    """Host name to the resource classes that its nested providers have or that
    request groups of its new members contain. Hosts with neither are omitted.

    :param new: members, and their hosts
    """
    found: dict[str, frozenset[str]] = {}
    for member, host in new:
        if host.providers and host.name not in found:
            found[host.name] = frozenset(
                name for each in host.providers for name in each.inventories)
        for group in member.requirements.request_groups:
            found[host.name] = found.get(host.name, frozenset()).union(
                group.resources)
    return found


def cannot_serve(host: Host, members: Sequence[Member],
                 classes: frozenset[str]) -> bool:
    """Whether it is proved that the providers of the host cannot serve the
    members together.

    :param members: the new members of the host
    :param classes: resource classes of the host, as ``tree_classes`` returns
    """
    return _is_possible(host, members, classes) is False


def can_serve(host: Host, members: Sequence[Member],
              classes: frozenset[str]) -> bool:
    """Whether providers of the host were found that serve the members
    together.

    :param members: the new members of the host
    :param classes: resource classes of the host, as ``tree_classes`` returns
    """
    return _is_possible(host, members, classes) is True


def _is_possible(host: Host, members: Sequence[Member],
                 classes: frozenset[str]) -> bool | None:
    """Whether the providers of the host can serve the members together; None
    if the search ended without an answer."""
    requests = list(_requests(members, classes))
    try:
        return not requests or _Search(host, requests).is_possible(0)
    except _StepLimitExceeded:
        return None


@dataclass(frozen=True, slots=True)
class _Request:
    """Resources that one provider must serve: a request group of a member, or
    one resource class that it requests outside request groups.

    :ivar owner: number of the member
    :ivar isolated: whether the isolated groups of the member need different
        providers
    :ivar subtrees: sets of suffixes of request groups of the member whose
        providers must be in one subtree
    :ivar together: traits that the providers of all resources outside request
        groups have together; empty if the request is a request group
    """

    owner: int
    group: RequestGroup
    isolated: bool
    subtrees: tuple[frozenset[str], ...] = ()
    together: frozenset[str] = frozenset()


def _requests(members: Sequence[Member],
              classes: frozenset[str]) -> Iterator[_Request]:
    for number, member in enumerate(members):
        wanted = member.requirements
        groups = [RequestGroup('', FrozenMapping({name: amount}),
                               forbidden_traits=of_other_providers(
                                   wanted.forbidden_traits))
                  for name, amount in sorted(wanted.resources.items())
                  if name in classes and amount]
        together = of_other_providers(wanted.required_traits)
        yield from (_Request(number, group, False, together=together)
                    for group in groups)
        yield from (_Request(number, group, wanted.group_policy == ISOLATE,
                             wanted.same_subtree)
                    for group in wanted.request_groups)


class _StepLimitExceeded(Exception):
    """The search exceeded the maximum number of steps."""


@dataclass(slots=True)
class _Provider:
    """A resource provider.

    :ivar used: amounts that the search has allocated, by resource class
    """

    inventories: Mapping[str, Inventory]
    traits: frozenset[str]
    used: dict[str, int] = field(default_factory=dict)

    def accepts(self, group: RequestGroup) -> bool:
        """Whether Placement could allocate the group from this provider."""
        return (self.traits >= group.required_traits
                and not self.traits & group.forbidden_traits
                and all(name in self.inventories and self._has(
                    self.inventories[name], name, amount)
                    for name, amount in group.resources.items()))

    def _has(self, inventory: Inventory, name: str, amount: int) -> bool:
        capacity = ((inventory.total - inventory.reserved)
                    * inventory.allocation_ratio)
        return (inventory.min_unit <= amount <= inventory.max_unit
                and amount % inventory.step_size == 0
                and inventory.used + self.used.get(name, 0) + amount
                <= capacity)

    def change(self, group: RequestGroup, sign: int) -> None:
        """Allocate the group if the sign is 1, or free it if it is -1."""
        for name, amount in group.resources.items():
            self.used[name] = self.used.get(name, 0) + sign * amount


class _Search:
    """A depth-first search that stores the states without a solution."""

    def __init__(self, host: Host, requests: Sequence[_Request]):
        self._providers = [_Provider(host.inventories, host.traits), *(
            _Provider(each.inventories, each.traits)
            for each in host.providers)]
        self._above = _above(host)
        # Members with the fewest possible providers come first, because they
        # fail soonest. The requests of a member are consecutive.
        possible = [sum(provider.accepts(each.group)
                        for provider in self._providers) for each in requests]
        least: dict[int, int] = {}
        for each, number in zip(requests, possible):
            least[each.owner] = min(number, least.get(each.owner, number))
        self._requests = [requests[i] for i in sorted(
            range(len(requests)), key=lambda i: (
                least[requests[i].owner], requests[i].owner, possible[i]))]
        # Members whose later requests depend on the providers of earlier ones.
        self._linked = {each.owner for each in requests if each.subtrees
                        or each.together - host.traits}
        self._chosen: list[int] = []
        self._failed: set[tuple] = set()
        self._steps = 0

    def is_possible(self, number: int) -> bool:
        """Whether the requests from this number on can be served in addition
        to the previous requests.

        :raises _StepLimitExceeded: if the search exceeds the maximum number of
            steps
        """
        if number == len(self._requests):
            return True
        state = self._state(number)
        if state in self._failed:
            return False
        self._steps += 1
        if self._steps > limits().check_steps:
            raise _StepLimitExceeded
        request = self._requests[number]
        for index, provider in enumerate(self._providers):
            if index in self._excluded(number) or not provider.accepts(
                    request.group):
                continue
            provider.change(request.group, 1)
            self._chosen.append(index)
            found = (self._in_subtrees(request)
                     and self._has_traits(number)
                     and self.is_possible(number + 1))
            self._chosen.pop()
            provider.change(request.group, -1)
            if found:
                return True
        self._failed.add(state)
        return False

    def _in_subtrees(self, last: _Request) -> bool:
        """Whether each set of groups that the last request completes has its
        providers in one subtree."""
        chosen = {other.group.suffix: index for index, other
                  in zip(self._chosen, self._requests)
                  if other.owner == last.owner}
        for suffixes in last.subtrees:
            if last.group.suffix in suffixes and suffixes <= chosen.keys():
                providers = {chosen[each] for each in suffixes}
                if not any(all(top in self._above[each]
                               for each in providers) for top in providers):
                    return False
        return True

    def _has_traits(self, number: int) -> bool:
        """Whether the providers of the member's resources outside request
        groups have its required traits, once the last of them is chosen."""
        request, root = self._requests[number], self._providers[0]
        if request.together <= root.traits or any(
                other.together for other in self._requests[number + 1:]
                if other.owner == request.owner):
            return True
        return request.together <= root.traits.union(*(
            of_other_providers(self._providers[index].traits)
            for index, other in zip(self._chosen, self._requests)
            if other.owner == request.owner and other.together))

    def _excluded(self, number: int) -> frozenset[int]:
        """Indexes of the providers that other isolated groups of the same
        member use, and that the request must not use."""
        request = self._requests[number]
        if not request.isolated:
            return frozenset()
        return frozenset(
            index for index, other in zip(self._chosen, self._requests)
            if other.owner == request.owner and other.isolated)

    def _state(self, number: int) -> tuple:
        """A key that determines whether the requests from this number on can
        be served."""
        owner = self._requests[number].owner
        own = tuple(
            index for index, other in zip(self._chosen, self._requests)
            if other.owner == owner) if owner in self._linked else ()
        return number, self._excluded(number), own, tuple(
            tuple(sorted(item for item in each.used.items() if item[1]))
            for each in self._providers)


def _above(host: Host) -> Sequence[frozenset[int]]:
    """For each provider, its own position and those of the providers above
    it. The root provider is at position 0. A provider that hosts share is in
    the tree of none of them."""
    positions = {each.uuid: number
                 for number, each in enumerate(host.providers, 1)}
    parents = [0, *(positions.get(each.parent, 0) for each in host.providers)]
    shared = {number for number, each in enumerate(host.providers, 1)
              if each.sharing}
    found = []
    for number in range(len(parents)):
        if number in shared:
            found.append(frozenset([number]))
            continue
        own = {number, 0}
        while (number := parents[number]) not in own:
            own.add(number)
        found.append(frozenset(own))
    return found
