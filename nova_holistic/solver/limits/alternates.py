# SPDX-License-Identifier: Apache-2.0
"""Limits of alternates."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AlternatesLimits:
    """Limits of alternates. Each number is a maximum unless its text says
    otherwise.

    :ivar failed_hosts: hosts that may be tried without success for one member.
        No point reads it.
    :ivar all_hosts: hosts of a cloud up to which each suitable host is on
        every shortlist; also domains of a level up to which each has a host on
        it. benchmarks/alternates.py shows the cost. No point reads it.
    :ivar hosts_per_member: hosts on a shortlist for each member of the
        description at least. Nova builds a server on two alternates at most
        unless [scheduler] max_attempts is raised. benchmarks/alternates.py
        shows the cost. No point reads it.
    :ivar hosts_of_group: hosts on all shortlists of a group up to which each
        member has as many hosts as it may have alternates.
        benchmarks/alternates.py shows the cost. No point reads it.
    """

    failed_hosts: int = 20
    all_hosts: int = 1_000
    hosts_per_member: int = 3
    hosts_of_group: int = 2_000
