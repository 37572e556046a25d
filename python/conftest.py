"""Test configuration: tests marked long run only on request."""

import os

import pytest


def pytest_collection_modifyitems(items):
    if os.environ.get("PAGEDATTN_LONG_TESTS"):
        return
    skip = pytest.mark.skip(reason="long test, run with ./run-tests.sh --long")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)
