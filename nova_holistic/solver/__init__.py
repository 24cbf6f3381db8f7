# SPDX-License-Identifier: Apache-2.0
"""The planner's core: a group and a snapshot to a plan, or to reasons.

Other packages import the modules of ``__all__`` and no other: the rest may be
rebuilt at any time. Each sub-package imports only those listed before it:

``limits``
    limits of size and effort, and shares of the time, as one object
``problem``
    hosts, members, capacity and the rows of the policies
``evaluation``
    counts, costs and checks of policies while members are placed
``construct``
    plans without an integer program: greedy, repair, one more member
``milp``
    integer and linear programs, and the solvers that run them
``improve``
    large-neighbourhood search: a known plan is improved part by part
``alternates``
    other hosts on which members can be built
``decomposition``
    merged hosts, patterns of members on hosts, and their master program
``traffic``
    plans and bounds for objectives about traffic between members
``diagnosis``
    why there is no plan, and why a member is on its host

``relaxations`` is on top, and solves altered problems: what would make a group
fit, and how many copies of it fit.
"""

__all__ = ('alternates.alternates', 'check', 'construct.one_more',
           'diagnosis.explain', 'milp.backend', 'observer', 'relaxations',
           'settings', 'solve')
