# SPDX-License-Identifier: Apache-2.0
"""A scheduler that places one server after another, without the later ones.

It uses the same filters and weighers as a joint plan.
"""

from nova_holistic.solver.tree_check import cannot_serve, tree_classes


class OneByOne:
    """Places servers in the order of the document: capacity and hard policies
    filter, preferences weigh, and then the emptiest host is best."""

    def __init__(self, group, snapshot):
        self._snapshot = snapshot
        self._members = group.all_members()
        self._free = {h.name: {name: inventory.free for name, inventory
                               in h.inventories.items()}
                      for h in snapshot.hosts}
        self._hard = {m.path: [] for m in self._members}
        self._soft = {m.path: [] for m in self._members}
        for scope in group.scopes():
            for rule in scope.group.rules:
                for member in scope.members:
                    (self._hard if rule.hard else self._soft)[
                        member.path].append((rule, scope))
        self.where = {}
        self._there = {h.name: [] for h in snapshot.hosts}

    def run(self):
        """Whether every server found a host."""
        return all(map(self._place, self._members))

    def _place(self, member):
        hosts = [h for h in self._snapshot.hosts if self._has(h, member)]
        hosts.sort(key=self._fullness)
        best = None
        for host in hosts:
            self.where[member.path] = host
            if self._violations(member, self._hard):
                continue
            cost = self._violations(member, self._soft)
            if best is None or cost < best[0]:
                best = cost, host
            if not best[0]:
                break
        if best is None:
            self.where.pop(member.path, None)
            return False
        self.where[member.path] = best[1]
        self._there[best[1].name].append(member)
        for name, amount in member.requirements.resources.items():
            if name in self._free[best[1].name]:
                self._free[best[1].name][name] -= amount
        return True

    def _has(self, host, member):
        """Whether the host has the resources, and its providers have those of
        all members there together."""
        there = [*self._there[host.name], member]
        classes = tree_classes([(each, host) for each in there]).get(
            host.name, frozenset())
        free = self._free[host.name]
        if any(free.get(name, 0) < amount for name, amount
               in member.requirements.resources.items()
               if name not in classes):
            return False
        return not classes or not cannot_serve(host, there, classes)

    def _fullness(self, host):
        return -sum(self._free[host.name][name] / inventory.total
                    for name, inventory in host.inventories.items())

    def _violations(self, member, rules):
        return sum(
            (1 if rule.hard else rule.weight)
            * rule.check(scope, self.where, self._snapshot).count
            for rule, scope in rules[member.path])
