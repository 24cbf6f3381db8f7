# SPDX-License-Identifier: Apache-2.0
"""The problem that represents provider trees as resource classes."""

from collections import Counter

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver import observer
from nova_holistic.solver.solve import solve
from nova_holistic.solver.trees import tree_problem
from tests.unit.builders import cloud, group, host

HOSTS = 20


@pytest.fixture
def calls(monkeypatch):
    """The number of times that the rows of a host are computed, without the
    observer of the other tests."""
    found = Counter()
    real = tree_problem._rows_of

    def counted(*args):
        found['rows'] += 1
        return real(*args)

    monkeypatch.setattr(tree_problem, '_rows_of', counted)
    monkeypatch.setattr(observer, '_registered', ())
    return found


def shared(name, total, **options):
    return NestedProvider(name, name, '', FrozenMapping(
        {'DISK_GB': Inventory(total)}), sharing=True, **options)


def hosts_of(*storages):
    """Hosts that use the storages in turn."""
    return cloud(*(host(f'h{number}', 'r1', vcpus=4, providers=(
        storages[number % len(storages)],)) for number in range(HOSTS)))


def web(disk):
    return group(MemberDescription('web', Requirements(FrozenMapping(
        {'VCPU': 1, 'DISK_GB': disk})), 3))


def test_hosts_with_the_same_storage_share_their_rows(calls):
    snapshot = hosts_of(shared('nfs', 100), shared('ceph', 200))
    solve(web(10), snapshot)
    assert calls['rows'] == 2


def test_the_problem_is_built_again_for_observers_only(calls):
    snapshot = hosts_of(shared('nfs', 100))
    solve(web(10), snapshot)
    assert calls['rows'] == 1
    asked = []
    with observer.observing(lambda question, answer: asked.append(question)):
        solve(web(10), snapshot)
    assert calls['rows'] == 3
    (question,) = asked
    assert not any(each.providers for each in question.snapshot.hosts)
