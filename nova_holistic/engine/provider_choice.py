# SPDX-License-Identifier: Apache-2.0
"""Chooses the providers of members that use more than the root providers of
their hosts.

A plan chooses hosts. Before its places are held, Placement proposes providers
for each member. If a host cannot serve its members, it is read again, and a
new plan is made. If Placement refuses it a second time, the next plan leaves
it out.
"""

from collections.abc import Iterator, Sequence
from collections import defaultdict
from dataclasses import replace
import itertools

from oslo_log import log as logging

from nova_holistic.engine import errors, shared_allocations
from nova_holistic.engine.proposal import PlannerComponents, Proposal
from nova_holistic.holds.disjoint_allocations import Choice, choose
from nova_holistic.holds.independent_parts import is_isolated, merged, split
from nova_holistic.holds.provider_candidates import Candidates
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.coordination.refusals import Refusal
from nova_holistic.table.provider_allocation import ProviderAllocation
from nova_holistic.table.records import MemberRecord

LOG = logging.getLogger(__name__)

CHECK_NAME = 'providers'
"""Name of this check in refusals of hosts."""


def uses_tree(wanted: Requirements, host: Host) -> bool:
    """Whether a member may need other resource providers of the host than its
    root provider."""
    return bool(wanted.request_groups) or any(
        amount and (name not in host.inventories or any(
            name in each.inventories for each in host.providers))
        for name, amount in wanted.resources.items())


class ProviderChoice:
    """Chooses the resource providers for the members of one change. It
    remembers between attempts which hosts could not serve their members."""

    def __init__(self, parts: PlannerComponents):
        self._parts = parts
        self._refused: set[tuple[str, str]] = set()

    def with_allocations(self, proposal: Proposal) -> Proposal:
        """The proposal with the allocations of the members that may need other
        providers than root providers.

        :raises OutdatedPlan: some hosts cannot serve their members
        :raises HoldsError: Placement does not respond
        """
        used = {member.place.host for member in proposal.members}
        hosts = {host.name: host for host
                 in (proposal.decision.snapshot.hosts if used else ())
                 if host.name in used}
        members: dict[str, list[MemberRecord]] = defaultdict(list)
        for member in proposal.members:
            host = hosts.get(member.place.host)
            if host is not None and uses_tree(
                    member.member.requirements, host):
                members[host.name].append(member)
        if not members:
            return proposal
        chosen: dict[str, ProviderAllocation] = {}
        unfit = []
        for name, those in members.items():
            found = self._with_shares(
                hosts[name], those, proposal.request.vacated)
            if found is None:
                unfit.append(those)
            else:
                chosen.update(zip((m.hold for m in those), found))
        if unfit:
            self._refuse(unfit)
        return replace(proposal, members=[
            replace(m, place=replace(m.place, allocation=chosen[m.hold]))
            if m.hold in chosen else m for m in proposal.members])

    def on_alternate(self, host: Host, members: Sequence[MemberRecord]
                     ) -> Iterator[tuple[int, ProviderAllocation]]:
        """Yield the row ID and an allocation of each member that the host can
        serve in addition to all held places.

        Members get different resources if the host can serve all of them.
        Otherwise, each gets the resources that it could have alone.

        :param members: members that may be built on the host
        :raises HoldsError: Placement does not respond
        """
        together = self._with_shares(host, members, ())
        if together is not None:
            yield from zip((m.id for m in members), together)
            return
        alone: dict[Requirements, Sequence[ProviderAllocation] | None] = {}
        for member in members if len(members) > 1 else ():
            wanted = member.member.requirements
            if wanted not in alone:
                alone[wanted] = self._with_shares(host, [member], ())
            for allocation in alone[wanted] or ():
                yield member.id, allocation

    def _with_shares(self, host: Host, members: Sequence[MemberRecord],
                     vacated: Sequence[MemberRecord]
                     ) -> Sequence[ProviderAllocation] | None:
        """An allocation for each member of one host; None if the host cannot
        serve all of them. Whether sharing providers can serve the members of
        all hosts is decided when the places are held.

        :param vacated: members whose capacity the members may use
        """
        bare = shared_allocations.without_sharing_providers(host)
        shares = [shared_allocations.shares_of(
            m.member.requirements, host) for m in members]
        own = [shared_allocations.without_shared_resources(
            m.member.requirements, each)
            for m, each in zip(members, shares)]
        from_tree = [each for each in own if uses_tree(each, bare)]
        found: Sequence[ProviderAllocation] | None = ()
        if from_tree:
            found = self._chosen(host.uuid, from_tree, [
                _own_part(row, host) for row in vacated
                if row.place.provider == host.uuid])
        if found is None:
            return None
        remaining = iter(found)
        return [shared_allocations.with_shares(
            next(remaining) if uses_tree(wanted, bare)
            else shared_allocations.of_root(wanted, host.uuid), each)
            for wanted, each in zip(own, shares)]

    def _chosen(self, provider: str, wanted: Sequence[Requirements],
                leaving: Sequence[tuple[
                    Requirements, ProviderAllocation | None]],
                ) -> Sequence[ProviderAllocation] | None:
        """An allocation for each member of one host; None if the host cannot
        serve all of them.

        :param provider: UUID of the root provider of the host
        :param wanted: requirements of each member
        :param leaving: requirements and allocations of other members of the
            host, whose capacity these members may use
        """
        vacated = [(other, allocation) for other, allocation in leaving
                   if allocation is not None]
        read: dict[Requirements, Candidates] = {}
        for each in wanted:
            if each not in read:
                read[each] = self._parts.holds.candidates(provider, each)
        free: dict[tuple[str, str], int] = {}
        for found in read.values():
            free.update(found.free)
        for _, allocation in vacated:
            for uuid, amounts in allocation.resources.items():
                for name, amount in amounts.items():
                    free[uuid, name] = free.get((uuid, name), 0) + amount
        options = {each: _options(found, [
            allocation for other, allocation in vacated if other == each])
            for each, found in read.items()}
        chosen = choose([
            Choice(option, number if is_isolated(part) else None)
            for number, each in enumerate(wanted) for option, (part, _) in zip(
                options[each], read[each].parts)], free)
        if chosen is None:
            return None
        remaining = iter(chosen)
        return [merged(parts, list(itertools.islice(remaining, len(parts))))
                for parts in ([part for part, _ in read[each].parts]
                              for each in wanted)]

    def _refuse(self, unfit: Sequence[Sequence[MemberRecord]]) -> None:
        """Remember that hosts cannot serve their members, and read these hosts
        again. A second refusal of a host is written to the table.

        :param unfit: members of each of these hosts
        :raises OutdatedPlan: always
        """
        places = {(m.member.description, m.place.host): m
                  for those in unfit for m in those}
        now = self._parts.clock()
        for key in places.keys() & self._refused:
            self._parts.table.refusals.remember(
                places[key], [Refusal(key[1], CHECK_NAME)], now)
        self._refused.update(places)
        names = sorted({host for _, host in places})
        LOG.info('Placement has no providers for the members that were '
                 'planned on %s', ', '.join(names[:10]))
        # They are read again before the next plan.
        self._parts.snapshot_planner.cached_snapshot(
            {m.place.provider for m in places.values()})
        raise errors.OutdatedPlan(
            'the hosts of some members cannot give them all resources')


def _own_part(row: MemberRecord, host: Host
              ) -> tuple[Requirements, ProviderAllocation | None]:
    """The requirements and the allocation of a member, without resources of
    sharing providers."""
    wanted, allocation = row.member.requirements, row.place.allocation
    shares = shared_allocations.shares_of(wanted, host)
    return (shared_allocations.without_shared_resources(wanted, shares),
            allocation and shared_allocations.of_own_providers(
                allocation, host))


def _options(found: Candidates, vacated: Sequence[ProviderAllocation]
             ) -> Sequence[Sequence[ProviderAllocation]]:
    """The allocations that each part of a member may have.

    :param vacated: allocations of vacated members with the same requirements
    """
    if not vacated:
        return [allocations for _, allocations in found.parts]
    # Equal parts share one list object.
    options = {id(allocations): dict.fromkeys(allocations)
               for _, allocations in found.parts}
    for part, allocations in found.parts:
        options[id(allocations)].update(dict.fromkeys(
            split(each, part, len(found.parts)) for each in vacated))
    lists = {key: list(each) for key, each in options.items()}
    return [lists[id(allocations)] for _, allocations in found.parts]
