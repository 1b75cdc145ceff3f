"""What pyproject.toml cannot say: the configurations, which lie beside the package, are inside it in a wheel."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithConfigs(build_py):
    """Takes `configs` along; an editable installation finds it where it is."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copytree("configs", Path(self.build_lib) / "budgetbench" / "configs", dirs_exist_ok=True)


setup(cmdclass={"build_py": WithConfigs})
