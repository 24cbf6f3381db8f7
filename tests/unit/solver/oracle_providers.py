# SPDX-License-Identifier: Apache-2.0
"""Exhaustive search over hosts and resource providers.

The oracle is written from Placement's documentation. It shares no code with
the solver or with its check. Policies and objectives are those of ``oracle``.
"""

from collections import Counter
import itertools

from tests.unit.solver import oracle


def plans(group, snapshot, placed):
    """Generate (weighted violations, path to host name) of every plan."""
    hosts = {host.name: host for host in snapshot.hosts}
    members = group.all_members()
    free = [m for m in members if m.path not in placed]
    places = [[host.name for host in snapshot.hosts if suits(m, host)]
              for m in free]
    for chosen in itertools.product(*places):
        where = {**placed, **{m.path: name for m, name in zip(free, chosen)}}
        cost = oracle.violations(group, snapshot, placed, where)
        if cost is not None and is_served(
                [(m, hosts[where[m.path]]) for m in free]):
            yield cost, where


def suits(member, host):
    """Return whether the host meets the requirements that concern no
    resources."""
    wanted = member.requirements
    return (host.enabled and wanted.required_traits <= host.traits
            and not wanted.forbidden_traits & host.traits)


def is_served(pairs):
    """Return whether the providers can serve these members.

    :param pairs: each member with its host
    """
    requests = [request for n, (member, host) in enumerate(pairs)
                for request in _requests(n, member, host)]
    # The request with the fewest providers first.
    requests.sort(key=lambda each: len(each['providers']))
    return _search(requests, [], Counter())


def _requests(number, member, host):
    """Generate the requests of a member: each request group, and each resource
    class outside groups. A provider is (key, inventories, traits, keys of the
    providers above it and its own)."""
    wanted = member.requirements
    providers = [*_providers(host)]
    for name, amount in wanted.resources.items():
        if amount:
            yield _request(number, wanted, '', {name: amount}, providers)
    for each in wanted.request_groups:
        yield _request(number, wanted, each.suffix, dict(each.resources), [
            one for one in providers if each.required_traits <= one[2]
            and not each.forbidden_traits & one[2]])


def _request(number, wanted, suffix, amounts, providers):
    return {
        'member': number, 'suffix': suffix, 'amounts': amounts,
        'isolated': bool(suffix) and wanted.group_policy == 'isolate',
        'subtrees': wanted.same_subtree if suffix else (),
        'providers': [one for one in providers if all(
            name in one[1] and _is_allowed(one[1][name], amount)
            for name, amount in amounts.items())]}


def _providers(host):
    root = f'root of {host.name}'
    yield root, host.inventories, host.traits, {root}
    parents = {each.uuid: each.parent for each in host.providers}
    for each in host.providers:
        if each.sharing:
            yield (f'shared {each.uuid}', each.inventories, each.traits,
                   {f'shared {each.uuid}'})
            continue
        above, key = {root}, each.uuid
        while key:
            above.add(f'{host.name} {key}')
            key = parents[key]
        yield (f'{host.name} {each.uuid}', each.inventories, each.traits,
               above)


def _is_allowed(has, amount):
    return (has.min_unit <= amount <= has.max_unit
            and amount % has.step_size == 0)


def _search(requests, chosen, taken):
    """Return whether the rest of the requests can be served.

    :param chosen: provider of each of the first requests
    :param taken: (key of the provider, resource class) to amount
    """
    if len(chosen) == len(requests):
        return all(map(_is_in_subtree, requests, itertools.repeat(
            [*zip(requests, chosen)])))
    request = requests[len(chosen)]
    for one in request['providers']:
        key, inventories = one[:2]
        if request['isolated'] and any(
                other['isolated'] and other['member'] == request['member']
                and used[0] == key
                for other, used in zip(requests, chosen)):
            continue
        after = taken + Counter({
            (key, name): amount for name, amount in request['amounts'].items()
        })
        if all(inventories[name].used + after[key, name] <= (
                inventories[name].total - inventories[name].reserved)
                * inventories[name].allocation_ratio
                for name in request['amounts']) and _search(
                    requests, [*chosen, one], after):
            return True
    return False


def _is_in_subtree(request, pairs):
    """Return whether each set of groups with this one is in one subtree."""
    for suffixes in request['subtrees']:
        own = [one for other, one in pairs
               if other['member'] == request['member']
               and other['suffix'] in suffixes]
        if request['suffix'] in suffixes and not any(
                all(top[0] in one[3] for one in own) for top in own):
            return False
    return True
