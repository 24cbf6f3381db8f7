# SPDX-License-Identifier: Apache-2.0
"""The placement table as plain Python, with the required effect of each
operation.

It shares no code with the project. It follows the manual and the docstrings of
the operations. Times are seconds since the beginning.
"""

from tests.unit.table.model_rows import Group, Member, PATHS, seen_by

SETTLING = {'planned', 'building', 'complete', 'released'}
INTO = {'planned': {'planning', 'unplaceable', 'error', 'planned'},
        'unplaceable': {'planning', 'error', 'unplaceable'},
        'error': {'planning', 'unplaceable', 'error'}}
"""Statuses from which an engine may change the status of a group."""


class Model:
    """Every method has the arguments and the result of the method of
    ``product.Product`` with the same name."""

    def __init__(self):
        self.now = 0
        self.groups = {}

    def wait(self, seconds):
        self.now += seconds

    # Groups and tasks.

    def create(self, uuid, lease):
        self.groups[uuid] = Group(lease)

    def delete(self, uuid):
        self.groups.pop(uuid, None)

    def purge(self, uuid):
        group = self.groups.get(uuid)
        done = group is not None and (
            group.status in ('released', 'unplaceable', 'error')
            and group.task is None and not any(
                m.held or m.state not in ('released', 'lost')
                for m in group.members.values()))
        if done:
            del self.groups[uuid]
        return done

    def request(self, uuid, task, statuses, revision):
        group = self.groups.get(uuid)
        done = group is not None and (
            group.task is None and group.status in statuses
            and group.revision == revision)
        if done:
            group.task, group.attempts = task, 0
        return done

    def take(self, uuid, engine, stale):
        group = self.groups.get(uuid)
        if group is None or group.task is None or not (
                group.engine is None or group.engine_at < self.now - stale):
            return False
        group.engine, group.engine_at = engine, self.now
        group.attempts += 1
        return True

    def return_work(self, uuid, engine):
        group = self._of(uuid, engine)
        if group is not None:
            group.engine = group.engine_at = None
            group.attempts -= 1

    def finish(self, uuid, engine, status=None, lease=None):
        group = self._of(uuid, engine)
        if group is None or status and group.status not in INTO[status]:
            return False
        group.status = status or group.status
        if lease is not None:
            group.lease = lease
        group.task = group.engine = group.engine_at = None
        group.attempts = 0
        return True

    def extend(self, uuid, lease):
        self.settle(uuid)
        group = self.groups.get(uuid)
        done = group is not None and group.status in (
            'planned', 'building', 'complete')
        if done:
            group.lease = lease
        return done

    def settle(self, uuid):
        group = self.groups.get(uuid)
        if group is None or group.status not in SETTLING or not group.members:
            return
        states = {m.state for m in group.members.values()}
        if states & {'claimed', 'built', 'failed'}:
            group.status = ('complete' if states <= {'built', 'released'}
                            else 'building')
        else:
            group.status = ('released' if states == {'released'}
                            else 'planned')

    def _of(self, uuid, engine):
        group = self.groups.get(uuid)
        return group if group is not None and group.engine == engine else None

    # Plans and updates.

    def write(self, uuid, engine, holds):
        group = self._of(uuid, engine)
        if group is None:
            return False
        kept = {path: m for path, m in group.members.items()
                if m.instance is not None}
        if kept.keys() & holds.keys():
            return 'Duplicate'
        # The plan follows the rows that remain.
        first = max((m.position + 1 for m in kept.values()), default=0)
        group.members = {**kept, **{
            path: Member('planned', hold, True, 'h1', position=position)
            for position, (path, hold) in enumerate(holds.items(), first)}}
        return True

    def revise(self, uuid, engine, renewed, removed, added):
        group = self._of(uuid, engine)
        if group is None:
            return False
        members = dict(group.members)
        for row in removed:
            if not seen_by(row, members.pop(row.member.path, None)):
                return False
        for row, hold in renewed:
            before = members.get(row.member.path)
            if not seen_by(row, before):
                return False
            members[row.member.path] = Member(
                'planned', hold, True, 'h2', before.id)
        if members.keys() & added.keys():
            return 'Duplicate'
        members.update({path: Member('planned', hold, True, 'h2')
                        for path, hold in added.items()})
        if group.status not in SETTLING:
            group.status = 'planned'
        group.members = members
        group.order_by_document()
        group.revision += 1
        group.engine_at = self.now
        return True

    def vacate(self, uuid, engine, rows):
        group = self._of(uuid, engine)
        if group is None or not all(
                seen_by(row, group.members.get(row.member.path))
                for row in rows):
            return False
        for row in rows:
            member = group.members[row.member.path]
            member.state, member.held = 'lost', True
        group.engine_at = self.now
        return True

    def occupy(self, uuid, engine, holds):
        group = self._of(uuid, engine)
        if group is None:
            return False
        self.accept(holds, [group])
        group.engine_at = self.now
        return True

    def offer(self, rows, holds):
        found = [self._by_id(row.id) for row in rows]
        if not all(m is not None and m is self._by_path(row)
                   and m.state == 'lost' and not m.held
                   for row, m in zip(rows, found, strict=True)):
            return False
        for member, hold in zip(found, holds, strict=True):
            member.hold, member.held, member.host = hold, True, 'h3'
        return True

    def accept(self, holds, groups=None):
        for member in self._members(groups):
            if (member.hold in holds and member.held
                    and member.state == 'lost'):
                member.state = 'planned'

    # Members and servers.

    def claim(self, uuid, path, instance, seen):
        own = next((m for m in self._members() if m.instance == instance),
                   None)
        if own is None:
            for row in seen:
                member = self._by_id(row.id)
                if (member is not None and member.hold == row.hold
                        and member.state == 'planned'):
                    return self._claimed(member, instance)
        return self._claim_any(uuid, path, instance, own)

    def _claim_any(self, uuid, path, instance, own):
        group = self.groups.get(uuid)
        claimable = [] if group is None else [
            m for name, m in group.members.items()
            if path in (name, PATHS[name])]
        if own is not None:
            return own.hold if (any(m is own for m in claimable)
                                and own.state in ('claimed', 'built')
                                ) else 'MemberNotPlannable'
        if group is None:
            return 'GroupUnknown'
        free = [m for name, m in group.in_order()
                if path in (name, PATHS[name]) and m.state == 'planned']
        if free and group.status in ('planned', 'building'):
            return self._claimed(free[0], instance)
        states = {m.state for m in claimable}
        if not states:
            return 'MemberUnknown'
        if states & {'claimed', 'built'}:
            return 'MemberTaken'
        return ('MemberReleased' if 'released' in states
                else 'MemberNotPlannable')

    def _claimed(self, member, instance):
        member.state, member.held = 'claimed', False
        member.instance = instance
        group = next(g for g in self.groups.values()
                     if any(m is member for m in g.members.values()))
        if group.status == 'planned':
            group.status = 'building'
        return member.hold

    def change(self, row, to, **changes):
        member = self._by_id(row.id)
        if not seen_by(row, member) or member.instance != row.instance_uuid:
            return False
        member.state = ('released' if member.unwanted
                        and to in ('planned', 'lost') else to)
        for name, value in changes.items():
            setattr(member, name, value)
        return True

    def forget(self, holds):
        for member in self._members():
            if member.hold in holds:
                member.held = False

    # Releases.

    def release(self, holds, with_servers):
        for member in self._members():
            if member.hold in holds:
                member.unwanted = member.unwanted or with_servers
                if member.state in ('planned', 'lost', 'failed'):
                    member.state = 'released'

    def expire(self, uuid):
        group = self.groups.get(uuid)
        if group is not None and self._lease_passed(group):
            for member in group.members.values():
                if member.state in ('planned', 'lost'):
                    member.state = 'released'
            self.settle(uuid)

    def expired(self):
        return {uuid for uuid, group in self.groups.items()
                if self._lease_passed(group)
                and group.status in ('planned', 'building')
                and any(m.state in ('planned', 'lost')
                        for m in group.members.values())}

    def release_unleased(self, row):
        member = self._by_id(row.id)
        group = self.groups.get(row.group_uuid)
        if (not seen_by(row, member) or member.instance != row.instance_uuid
                or not (member.unwanted or group is not None
                        and self._lease_passed(group))):
            return False
        member.state, member.held, member.instance = 'released', True, None
        return True

    def _lease_passed(self, group):
        return (group.task != 'updating' and group.lease is not None
                and group.lease <= self.now)

    def _members(self, groups=None):
        return [m for group in (self.groups.values() if groups is None
                                else groups)
                for m in group.members.values()]

    def _by_id(self, number):
        return next((m for m in self._members()
                     if number is not None and m.id == number), None)

    def _by_path(self, row):
        group = self.groups.get(row.group_uuid)
        return group and group.members.get(row.member.path)
