# SPDX-License-Identifier: Apache-2.0
"""Limits of alternates."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AlternatesLimits:
    """Limits of alternates.

    :ivar failed_hosts: hosts that may be tried without success for one member.
        With 1, 100 members that are even over racks have 2.97 instead of 3
        alternates each (the group *even* of benchmarks/alternates.py on 2,000
        hosts).
    :ivar all_hosts: hosts of a cloud up to which each suitable host is on
        every shortlist; also domains of a level up to which each has a host on
        it. With four times the value, 100 members in parts of one rack each
        have 2.95 instead of 2.36 alternates (the group *racks* there), but the
        time is five times as long.
    :ivar hosts_per_member: hosts on a shortlist for each member of the
        description at least. Nova builds a server on two alternates at most
        unless [scheduler] max_attempts is raised. With 2, 1,000 members in
        parts of one rack each have 0 instead of 0.79 alternates (the group
        *racks* there on 10,000 hosts, two alternates at most).
    :ivar hosts_of_group: hosts on all shortlists of a group up to which each
        member has as many hosts as it may have alternates. With 0, 200 members
        that share no host have 3.2 instead of 8 alternates (the group *apart*
        there).
    """

    failed_hosts: int = 20
    all_hosts: int = 1_000
    hosts_per_member: int = 3
    hosts_of_group: int = 2_000
