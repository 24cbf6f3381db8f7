# SPDX-License-Identifier: Apache-2.0
"""The solver, which computes a plan for a group and a snapshot, or the reasons
why no plan exists.

Other packages import only the modules in ``__all__``. All other modules may
change at any time. Each sub-package imports only the sub-packages listed
before it:

``limits``
    limits of problem size and effort, and shares of the time limit
``numerics``
    tolerances, exact weights, and bounds that are valid despite rounding
``problem``
    hosts, members, capacity and the constraints (rows) of the policies
``evaluation``
    counts, costs and checks of policies while members are placed
``construct``
    plans without an integer program: greedy construction, repair, insertion
    of one more member
``ruin_recreate``
    ruin and recreate, which improves a known plan without integer programs
``milp``
    integer and linear programs, and the solvers that run them
``improve``
    large-neighbourhood search, which improves a known plan part by part
``trees``
    members that use nested providers of hosts, or request groups
``alternates``
    other hosts on which members can be built
``small_groups``
    dynamic programming over domains, for small groups on large clouds
``decomposition``
    relaxations of aggregated hosts, and the hosts that they lead to
``column_generation``
    patterns of members on hosts, and their master program
``confined``
    plans and bounds of sets of members that policies keep in one domain each
``shared_hosts``
    bounds and plans of independent parts that share hosts
``host_counts``
    bounds of the number of hosts from all policies on domains together
``traffic``
    plans and bounds for objectives that measure traffic between members
``diagnosis``
    the reasons why no plan exists, and why a member is on its host
``phases``
    the phases that ``solve`` calls, each for one kind of group

``relaxations`` calls ``solve`` for modified problems: which changes would make
a group fit, and how many copies of it fit. The page ``contributor/solver`` of
the manual follows a call of ``solve`` through all of them.
"""

__all__ = ('alternates.alternates', 'check', 'construct.hosts_for_member',
           'diagnosis.explain', 'milp.backend', 'observer', 'placement_value',
           'planned_group', 'relaxations', 'settings', 'solve')
