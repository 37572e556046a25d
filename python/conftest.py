"""Test configuration: tests marked long run only on request, the package comes from the
build tree, and what is compiled is kept for the session only."""

import os
import pathlib
import sys

import pytest

_BUILD = pathlib.Path(os.environ.get("PAGEDATTN_BUILD_DIR", "build/release")).absolute()
_PACKAGE = _BUILD / "python"
if list(_PACKAGE.glob("pagedattn/_pagedattn*.so")):
    sys.path.insert(0, str(_PACKAGE))
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(_PACKAGE)] + os.environ.get("PYTHONPATH", "").split(os.pathsep))


def pytest_collection_modifyitems(items):
    if os.environ.get("PAGEDATTN_LONG_TESTS"):
        return
    skip = pytest.mark.skip(reason="long test, run with ./run-tests.sh --long")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def compile_cache(tmp_path_factory):
    """A folder for compiled modules that the tests of one session share."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["PAGEDATTN_CACHE_DIR"] = str(folder)
    os.environ.pop("PAGEDATTN_NO_COMPILE", None)
    os.environ.pop("PAGEDATTN_CHIP", None)
    return folder
