# SPDX-License-Identifier: Apache-2.0
"""Patches that disable the strategies of the solver, one at a time, for
``ablation.py``."""

from dataclasses import replace

import numpy as np

from nova_holistic.solver.column_generation import diving, dual_vertices
from nova_holistic.solver.column_generation import pattern_program
from nova_holistic.solver.column_generation import useful_patterns
from nova_holistic.solver.construct import batch_hosts
from nova_holistic.solver.construct.batch_hosts import BatchHosts
from nova_holistic.solver.construct.confinement import Confinement
from nova_holistic.solver.construct import first_plan, greedy
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition import cells, class_counts
from nova_holistic.solver.decomposition.cohesive_kinds import CohesiveKinds
from nova_holistic.solver.decomposition import fewest_hosts, host_assignment
from nova_holistic.solver.improve.adaptive_selection import AdaptiveSelection
from nova_holistic.solver.improve import search as improve
from nova_holistic.solver.limits.current import limits
from nova_holistic.solver.milp import search
from nova_holistic.solver.phases import all_hosts, better_plan
from nova_holistic.solver.phases import chosen_hosts, few_places
from nova_holistic.solver.phases import host_relaxation, large
from nova_holistic.solver.phases import part_bounds, part_plans
from nova_holistic.solver.phases import preferred_plan
from nova_holistic.solver.phases.relaxed_hosts import Relaxed
from nova_holistic.solver.ruin_recreate import part_search
from nova_holistic.solver.ruin_recreate.ruins import Ruins
from nova_holistic.solver.shared_hosts import host_curves
from nova_holistic.solver.shared_hosts.host_prices import HostPrices
from nova_holistic.solver.shared_hosts import price_hosts
from nova_holistic.solver import solve as top
from nova_holistic.solver.traffic import cell_variables, construction
from nova_holistic.solver.traffic.domain_aggregate import DomainAggregate
from nova_holistic.solver.traffic import integer_counts
from nova_holistic.solver.traffic.joint_patterns import JointPatterns
from nova_holistic.solver.traffic import traffic_bound
from nova_holistic.solver.traffic import traffic_plans


def nothing(*_arguments, **_options):
    """In place of a function that returns a plan, or None."""


def nothing_at_all(*_arguments):
    """In place of a function that returns a list."""
    return []


def no(*_arguments, **_options):
    return False


def plain_case(case, check):
    """Replaces the presolve: no group is refused, and no capacity is
    reduced."""
    return None, case


def whole_hosts(kinds, cells):
    """Replaces the relaxation that separates members."""
    return CohesiveKinds(kinds, cells)


def open_places(case, objective, in_time):
    """In place of the search for dominated hosts."""
    return case.open_room(in_time) > 0


def single_classes(case):
    """In place of the components of classes."""
    return [frozenset({c}) for c in range(len(case.classes))]


def no_vertices(amounts, size):
    """In place of the vertices of resources."""
    return None


def all_allowed(self, *_arguments):
    return None, None


def plan_may_exist(*_arguments):
    """In place of dynamic programming over domains."""
    return True


def no_closed_hosts(incumbent, group, *_arguments):
    """In place of the separate bound of members that close their hosts."""
    return group, 0.0


def no_hosts(*_arguments):
    """In place of a lower bound of the number of hosts."""
    return 0


def all_patterns(host_types, patterns, hosts, in_time=None):
    """In place of the removal of dominated patterns."""
    return patterns


def no_plans_of_parts(*_arguments):
    """In place of combinations of plans of the parts."""
    return {}


def no_prices(search):
    """In place of the first prices of shared hosts."""
    return [HostPrices.none(len(search._curves.classes), len(search._parts))]


def unlimited_kinds(kinds, _most):
    """In place of the division of kinds by the limits of hosts."""
    return kinds


def no_more_hosts(*_arguments):
    """In place of further hosts for a batch."""
    return np.zeros(0, dtype=np.int64)


def every_host(table, *_arguments):
    """In place of the hosts with the most room."""
    return np.arange(len(table))


def any_members(ruins, places, number):
    """In place of related members that leave their hosts."""
    return ruins._of_all_members(places, number)


def same_pattern(_star, pattern, _most):
    """In place of an even distribution among leaves."""
    return pattern


def fractions_of_hosts(relaxed, _deadline):
    """In place of whole numbers of hosts in coarse domains."""
    return relaxed.within(relaxed.merged.limit), relaxed.merged.limit


def same_group(group):
    """In place of hard policies instead of preferences."""
    return group


def with_limits(section, **values):
    """Replaces the function that returns the limits of a section."""
    def changed():
        return replace(getattr(limits(), section), **values)
    return changed


STRATEGIES = {
    'nothing': [],
    'insertion': [(top, 'insert_members', nothing)],
    'first plan': [(top, 'first_plan', nothing),
                   (chosen_hosts, 'first_plan', nothing)],
    'presolve': [(top, 'propagated', plain_case)],
    'hard preferences': [(top, 'with_hard_preferences', nothing)],
    'dynamic programming': [
        (top, 'plan_by_domains', plan_may_exist),
        (preferred_plan, 'plan_by_domains', plan_may_exist)],
    'sets in one domain': [(top, 'plan_by_sets', no),
                           (chosen_hosts, 'plan_by_sets', no)],
    'needed hosts': [(top, 'search_needed_hosts', nothing)],
    'counted hosts': [(top, 'has_fewest_hosts', no)],
    'cover of hosts': [(better_plan, 'cover_members', nothing)],
    'plan on cover': [(chosen_hosts, 'plan_on_cover', nothing)],
    'program of patterns': [(part_bounds, 'plan_by_patterns', nothing)],
    'states of patterns': [(pattern_program, 'suits_states', no)],
    'removal of patterns': [
        (pattern_program, 'without_dominated', all_patterns),
        (useful_patterns, 'without_equal', all_patterns)],
    'decomposition': [(chosen_hosts, 'large', nothing),
                      (better_plan, 'large', nothing)],
    'fallback plan': [(large.FallbackPlan, 'construct_after', nothing)],
    'column generation': [(large, 'is_applicable', no)],
    'coarse relaxation': [(chosen_hosts, 'relax', nothing),
                          (better_plan, 'relax', nothing)],
    'traffic plans': [
        (large, '_plan_for_traffic', nothing),
        (all_hosts, 'traffic_start', lambda *_: (None, lambda cost: None))],
    'families apart': [(CohesiveKinds, 'of', whole_hosts)],
    'batches': [(first_plan, 'batches', nothing_at_all),
                (part_search, 'batches', nothing_at_all)],
    'bound without policies': [(part_bounds, 'relax_policies', nothing)],
    'closed hosts': [
        (host_relaxation, 'without_closed_hosts', no_closed_hosts)],
    'count of hosts': [(host_relaxation, 'count_hosts', nothing)],
    'fewer hosts': [(part_bounds, 'search_fewer_hosts', nothing)],
    'hosts of the count': [(part_bounds, 'search_chosen_hosts', nothing)],
    'nested domains': [(fewest_hosts, 'hosts_of_nested_domains', no_hosts)],
    'limits of hosts': [(fewest_hosts, 'hosts_of_limits', no_hosts)],
    'bound of preferences': [(part_bounds, 'bound_preferences', nothing)],
    'bounds of parts': [(part_bounds, 'bound_parts', nothing)],
    'parts planned again': [(better_plan, 'replan_parts', nothing)],
    'construction of parts': [
        (part_plans._PartPlans, 'construct', nothing)],
    'prices of hosts': [(part_plans, 'price_hosts', no_plans_of_parts)],
    'first prices': [(price_hosts._Search, '_first_prices', no_prices)],
    'prices of members': [(host_relaxation, 'member_prices', nothing)],
    'possible loads': [(host_curves, 'sums_of_amounts', nothing)],
    'dive of parts': [(price_hosts._Search, 'dive', no_plans_of_parts)],
    'choice for parts': [(price_hosts._Search, 'choose', nothing)],
    'separate sets': [(
        host_relaxation._Relaxation, '_separate_sets', nothing)],
    'limited kinds': [(host_relaxation, 'limited_kinds', unlimited_kinds)],
    'few places': [(part_bounds, 'search_few_places', nothing)],
    'nearly full clouds': [(part_bounds, 'is_nearly_full', no),
                           (few_places, 'is_nearly_full', no)],
    'cheap hosts': [(BatchHosts, '_cheap', no_more_hosts)],
    'first plan on roomy hosts': [(batch_hosts, 'roomy_hosts', every_host)],
    'uplinks of batches': [(BatchHosts, '_missing', nothing)],
    'ruin of hosts': [(Ruins, '_of_hosts', any_members)],
    'ruin of a domain': [(Ruins, '_of_domain', any_members)],
    'ruin of a component': [(Ruins, '_of_component', any_members)],
    'domain of a policy': [(Ruins, 'outside', nothing)],
    'ruin and recreate': [(improve, 'ruin_and_recreate', nothing)],
    'neighbourhoods': [(few_places, 'improve', nothing)],
    'dominated hosts': [(search, 'needed_places', open_places)],
    'minimum of hosts': [(cells, 'counted_hosts', lambda *_: (0, 0))],
    'counted parts': [(cells, 'countable_scopes', lambda *_: {})],
    'class program': [(class_counts, 'assigned_counts', nothing)],
    'numbers of hosts': [(Relaxed, 'count_hosts', fractions_of_hosts)],
    'preferred assignment': [(large, 'with_hard_forms', same_group)],
    'marginal costs': [
        (host_assignment, 'assign_by_marginal_cost', nothing)],
    'bounds of members': [(HostAggregation, 'bound_members', nothing)],
    'branches of domains': [(large, 'domain_branches', lambda *_: ())],
    'dual vertices': [(dual_vertices, '_inverses', no_vertices)],
    'further dives': [(diving, 'limits', with_limits(
        'column_generation', dives=0))],
    'further hosts': [(large, 'limits', with_limits(
        'phases', spare_hosts=(0.0,)))],
    'adaptive selection': [(AdaptiveSelection, 'learn', nothing)],
    'confinement': [(Confinement, 'allows', all_allowed)],
    'components': [(greedy, 'components', single_classes)],
    'learned order': [(greedy.Restarts, '_learn', nothing)],
    'fixed patterns': [(integer_counts, 'limits', with_limits(
        'traffic', fixed_patterns=0))],
    'even patterns': [(construction, 'balanced', same_pattern)],
    'aggregates of domains': [(DomainAggregate, 'of', nothing)],
    'branches of traffic': [(traffic_bound, 'limits', with_limits(
        'traffic', branches=0))],
    'nested traffic': [(traffic_plans, 'nested_bound', lambda *_: 0.0)],
    'joint patterns': [(JointPatterns, 'least', lambda *_: 0.0)],
    'policies of traffic': [(cell_variables, 'decomposition', with_limits(
        'decomposition', part_variables=0))],
}
"""Patches that disable each strategy: (module or class, name, replacement).
The first one disables nothing: its row shows that equal runs are equal."""
