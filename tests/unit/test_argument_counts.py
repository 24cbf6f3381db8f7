# SPDX-License-Identifier: Apache-2.0
"""A function of the project takes at most five arguments. Further arguments
belong in an object with a documented meaning."""

import ast
import pathlib

import nova_holistic

MAXIMUM = 5
PACKAGE = pathlib.Path(nova_holistic.__file__).parent

OVERRIDES = {
    'embedded.fake_driver.EmbeddedDriver.live_migration',
    'heat.group.Group._needs_update',
    'heat.group.Group.update_convergence',
    'scheduler.manager.HolisticSchedulerManager.select_destinations',
}
"""Methods whose arguments Nova or Heat defines."""

EXCEPTIONS = {
    'client.client.Client.request',
    'engine.planner.Planner.__init__',
    'engine.planner.Planner._record',
    'engine.planner.Planner.create',
    'engine.tasks.task_runner.TaskRunner.__init__',
    'federation.group_placer.GroupPlacer.__init__',
    'federation.recovery.recover.Recovery.__init__',
    'federation.update.group_tasks.GroupTasks.__init__',
    'federation.update.group_updater.GroupUpdater.__init__',
    'scheduler.claim.matching_groups._match',
    'solver.alternates.alternates._Choice.of',
    'solver.alternates.alternates._case',
    'solver.alternates.alternates.alternates',
    'solver.alternates.shortlist.Shortlists.of',
    'solver.column_generation.generation.ColumnGeneration.__init__',
    'solver.column_generation.pattern_placement.place_patterns',
    'solver.construct.disaggregation._pass',
    'solver.decomposition.class_counts.class_counts',
    'solver.diagnosis.explain.explain',
    'solver.evaluation.policy_evaluation.PolicyEvaluation.__init__',
    'solver.milp.linear.Linear.add',
    'solver.milp.search.Search.__init__',
    'solver.relaxations.headroom.headroom',
    'solver.relaxations.relax.relax',
    'solver.solve.solve',
    'solver.traffic.construction.TrafficConstruction.__init__',
    'solver.traffic.domain_aggregate._maximum_pairs',
    'solver.traffic.traffic_plans._disaggregated',
    'table.changes.claim.claim',
    'table.store.PlacementTable.change_state',
}
"""Functions that still take more arguments. Remove a function from this list
when it takes fewer; add no function."""


def _functions(node, name):
    """The qualified name and the definition of each function in a module."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            # No definition is in an expression.
            continue
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f'{name}.{child.name}', child
        own = getattr(child, 'name', None)
        yield from _functions(child, f'{name}.{own}' if isinstance(
            child, ast.ClassDef | ast.FunctionDef) else name)


def _arguments(function):
    """The names of the arguments without the instance or the class."""
    given = function.args
    names = [argument.arg for argument in (
        *given.posonlyargs, *given.args, *given.kwonlyargs)]
    return names[1:] if names[:1] in (['self'], ['cls']) else names


def _with_too_many(source, module):
    return {name for name, function in _functions(ast.parse(source), module)
            if len(_arguments(function)) > MAXIMUM}


def test_no_other_function_takes_more_than_five_arguments():
    found = set()
    for path in PACKAGE.rglob('*.py'):
        module = '.'.join(path.relative_to(PACKAGE).with_suffix('').parts)
        found |= _with_too_many(path.read_text(), module)
    assert found - OVERRIDES - EXCEPTIONS == set()


def test_arguments_of_methods_and_nested_functions_are_counted():
    source = '''
class Host:
    def short(self, a, b, /, c, *rest, d, e, **options):
        pass

    def long(self, a, b, c, d, e=1, *, f=2):
        def inner(a, b, c, d, e, f):
            pass
'''
    assert _with_too_many(source, 'hosts') == {
        'hosts.Host.long', 'hosts.Host.long.inner'}
