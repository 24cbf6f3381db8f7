# SPDX-License-Identifier: Apache-2.0
"""The patches of the ablation fit the functions that they replace."""

import inspect

import pytest

from benchmarks.strategy_patches import STRATEGIES


@pytest.mark.parametrize('name', STRATEGIES)
def test_a_replacement_takes_the_arguments_of_its_function(name):
    """All of them, or those without a default value."""
    for owner, attribute, replacement in STRATEGIES[name]:
        known = [each for each in inspect.signature(
            getattr(owner, attribute)).parameters.values()
            if each.kind is each.POSITIONAL_OR_KEYWORD]
        needed = [each for each in known if each.default is each.empty]
        assert _takes(replacement, known) or _takes(replacement, needed)


def _takes(function, arguments):
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    return True


def test_the_first_patch_disables_nothing():
    name, patches = next(iter(STRATEGIES.items()))
    assert (name, patches) == ('nothing', [])
