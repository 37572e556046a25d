"""Builds _pagedattn with CMake, from this checkout and what is installed; nothing is
downloaded.

PAGEDATTN_BUILD_DIR names a configured build folder to use; without it one is made with the
preset `release`.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).parent.resolve()


class BuildWithCMake(build_ext):
    def build_extension(self, extension):
        build = os.environ.get("PAGEDATTN_BUILD_DIR")
        if not build:
            build = pathlib.Path(self.build_temp).resolve() / "cmake"
            launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            subprocess.run(
                ["cmake", "--preset", "release", "-B", build, "-DPAGEDATTN_BUILD_TESTS=OFF",
                 "-DPAGEDATTN_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}", *launcher],
                cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", build, "--target", "_pagedattn"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        built = pathlib.Path(build, "python", "pagedattn", target.name)
        if not built.exists():
            raise RuntimeError(f"{built} has not been built; is {sys.executable} the interpreter "
                               f"of the build folder {build}?")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built, target)


setup(ext_modules=[Extension("pagedattn._pagedattn", sources=[])],
      cmdclass={"build_ext": BuildWithCMake})
