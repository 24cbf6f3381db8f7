# SPDX-License-Identifier: Apache-2.0
"""Missing members of a plan are placed part by part, on hosts in use if
possible."""

from collections import Counter
import random

from nova_holistic.model.binding import bind
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.components import components
from nova_holistic.solver.construct.missing_parts import MissingParts
from nova_holistic.solver.problem.case import Case
from tests.unit.builders import cloud, group, host, servers


def _cloud(*vcpus):
    """Return a cloud of racks of two hosts.

    :param vcpus: free VCPUs of each host
    """
    return cloud(*(host(f'h{n}', f'r{n // 2}', vcpus=free)
                   for n, free in enumerate(vcpus)))


def _completed(wanted, snapshot, kept, known):
    """Return the checked placement of all members; None if some find no
    host.

    :param kept: path to host name of the members that have hosts
    :param known: path to host name of another plan
    """
    wanted = bind(wanted, snapshot)
    case = Case.of(wanted, snapshot, {})

    def counts(where):
        return tuple(Counter(case.table.index[where[m.path]]
                             for m in each.members if m.path in where)
                     for each in case.classes)

    parts = components(case)
    missing = {parts[c] for c, each in enumerate(case.classes)
               if any(m.path not in kept for m in each.members)}
    found = MissingParts(case, counts(kept), random.Random(1),
                         lambda: None).place(missing, counts(known))
    if found is None:
        return None
    where = {path: each.name for path, each in case.placement(found).items()}
    assert check(wanted, snapshot, where) == ()
    return where


def _group(**parts):
    """A group of groups.

    :param parts: name to number of members, policies of the group
    """
    return group(groups=[
        group(servers('m', number, 2), name=name, policies=policies)
        for name, (number, *policies) in parts.items()])


def test_a_missing_member_joins_a_host_in_use():
    """The last host has more free capacity than the first."""
    found = _completed(_group(a=(1,), b=(1,)), _cloud(4, 8, 16),
                       {'a/m-0': 'h0'}, {'a/m-0': 'h0', 'b/m-0': 'h2'})
    assert found == {'a/m-0': 'h0', 'b/m-0': 'h0'}


def test_members_with_hosts_stay_if_the_others_fit():
    found = _completed(
        _group(a=(2, Affinity(level='rack'))), _cloud(2, 2, 8, 8),
        {'a/m-0': 'h0'}, {'a/m-0': 'h2', 'a/m-1': 'h2'})
    assert {*found.values()} == {'h0', 'h1'}


def test_all_members_of_a_part_move_if_the_missing_ones_do_not_fit():
    """The rack of the first member has room for one more, and two are
    missing."""
    found = _completed(
        _group(a=(3, Affinity(level='rack'))), _cloud(2, 2, 4, 2),
        {'a/m-0': 'h0'}, {'a/m-0': 'h2', 'a/m-1': 'h2', 'a/m-2': 'h3'})
    assert sorted(found.values()) == ['h2', 'h2', 'h3']


def test_all_members_of_a_part_move_for_its_preferences():
    """The missing member would violate the preference next to the other
    one."""
    found = _completed(
        _group(a=(2, Affinity(level='rack', weight=1.0))), _cloud(2, 1, 4, 4),
        {'a/m-0': 'h0'}, {'a/m-0': 'h0', 'a/m-1': 'h2'})
    assert {*found.values()} <= {'h2', 'h3'}


def test_preferences_come_before_the_number_of_hosts():
    found = _completed(
        _group(a=(1,), b=(2, AntiAffinity(weight=1.0))), _cloud(16, 16),
        {'a/m-0': 'h0'},
        {'a/m-0': 'h0', 'b/m-0': 'h0', 'b/m-1': 'h1'})
    assert {found['b/m-0'], found['b/m-1']} == {'h0', 'h1'}


def test_parts_that_close_their_hosts_come_first():
    """One of two hosts has room for the exclusive member, and the larger part
    has room on both."""
    found = _completed(
        _group(a=(4,), b=(1, Exclusive())), _cloud(8, 8), {},
        {**{f'a/m-{n}': 'h0' for n in range(4)}, 'b/m-0': 'h1'})
    assert found['b/m-0'] not in {found[f'a/m-{n}'] for n in range(4)}


def test_no_plan_is_returned_if_a_part_finds_no_host():
    """The host of the known plan is in use now."""
    assert _completed(_group(a=(1,), b=(1,)), _cloud(2), {'a/m-0': 'h0'},
                      {'a/m-0': 'h0', 'b/m-0': 'h0'}) is None


def _moved_to_closed_hosts(policies):
    """Member ``b`` is in a known plan on the first host, and its other
    possible hosts are in different racks, which costs a preference.

    :param policies: the policies of the members of a and of b
    """
    of_a, of_b = policies
    return _completed(
        _group(a=(1, *of_a), b=(2, Affinity(level='rack', weight=1.0), *of_b)),
        _cloud(8, 1, 2, 1, 2, 1), {} if of_a else {'a/m-0': 'h0'},
        {'a/m-0': 'h2', 'b/m-0': 'h0', 'b/m-1': 'h0'})


def test_places_of_a_known_plan_are_not_used_on_hosts_that_are_closed_now():
    found = _moved_to_closed_hosts(([Exclusive()], []))
    assert found['a/m-0'] == 'h0'
    assert {found['b/m-0'], found['b/m-1']} == {'h2', 'h4'}


def test_places_of_a_known_plan_that_need_closed_hosts_are_not_shared():
    found = _moved_to_closed_hosts(([], [Exclusive()]))
    assert found['a/m-0'] == 'h0'
    assert {found['b/m-0'], found['b/m-1']} == {'h2', 'h4'}


def test_only_members_of_the_exclusive_group_need_hosts_without_others():
    """Member ``b`` of the part joins another group on its host. The group of
    member ``a`` in the same part is exclusive."""
    others = {f'd{n}': (1, Affinity(level='rack', weight=1.0))
              for n in range(8)}
    found = _completed(group(groups=[
        group(groups=_group(
            a=(1, Exclusive()), b=(2, Affinity(level='rack', weight=1.0))
        ).groups, name='p', policies=[AntiAffinity(max_per_domain=2)]),
        *_group(c=(11,), **others).groups]),
        _cloud(22, 1, 16, 1, 2, 1, 16, 1),
        {**{f'c/m-{n}': 'h0' if n < 10 else 'h2' for n in range(11)},
         **{f'{name}/m-0': 'h6' for name in others}},
        {'p/a/m-0': 'h4', 'p/b/m-0': 'h2', 'p/b/m-1': 'h2',
         **{f'c/m-{n}': 'h0' if n < 10 else 'h2' for n in range(11)},
         **{f'{name}/m-0': 'h6' for name in others}})
    assert {path: found[path] for path in found if path[0] == 'p'} == {
        'p/a/m-0': 'h4', 'p/b/m-0': 'h2', 'p/b/m-1': 'h2'}


def test_parts_of_one_exclusive_group_share_hosts():
    kept = {**{f'p/b/m-{n}': 'h0' if n < 10 else 'h2' for n in range(11)},
            'c/m-0': 'h4'}
    found = _completed(group(groups=[
        group(groups=_group(a=(2, Affinity(level='rack', weight=1.0)),
                            b=(11,)).groups,
              name='p', policies=[Exclusive()]),
        *_group(c=(1,)).groups]), _cloud(22, 1, 16, 1, 2, 1), kept,
        {**kept, 'p/a/m-0': 'h2', 'p/a/m-1': 'h2'})
    assert (found['p/a/m-0'], found['p/a/m-1']) == ('h2', 'h2')
