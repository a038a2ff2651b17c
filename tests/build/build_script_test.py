"""Tests of scripts/build.sh with made-up programs in place of cmake and dpkg-query: which LibTorch it configures.

The python it is given does nothing but fail, so a run that would install LibTorch fails.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CMAKE = """#!/bin/bash
echo "cmake $*"
mkdir -p build/release
for word in "$@"; do
  [[ $word == -DLIBTORCH=* ]] || continue
  echo "LIBTORCH:PATH=${word#*=}" >build/release/CMakeCache.txt
  [[ -d ${word#*=} ]] || exit 1
done
touch build/release/build.ninja
"""
PROGRAMS = {"cmake": CMAKE, "dpkg-query": "#!/bin/bash\necho -n installed\n", "clang": "#!/bin/bash\ndirname \"$0\"\n"}


class BuildScriptTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        shutil.copytree(ROOT / "scripts", self.folder / "scripts")
        (self.folder / "bin/lib/linux").mkdir(parents=True)
        (self.folder / "bin/lib/linux/libclang_rt.fuzzer.a").touch()
        for name, text in PROGRAMS.items():
            (self.folder / "bin" / name).write_text(text)
            (self.folder / "bin" / name).chmod(0o755)
        self.torch = self.folder / "torch"
        self.torch.mkdir()

    def build(self, **environment):
        kept = {name: value for name, value in os.environ.items() if name not in ("LIBTORCH", "PRESET", "TARGETS")}
        kept |= {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "PYTHON": "/bin/false", **environment}
        return subprocess.run([self.folder / "scripts/build.sh"], env=kept, capture_output=True, text=True)

    def test_presets_without_libtorch_install_none(self):
        for preset in ("asan", "tsan", "fuzz"):
            done = self.build(PRESET=preset)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("LIBTORCH", done.stdout)

    def test_an_own_libtorch_stays_with_the_build_folder(self):
        self.assertIn(f"-DLIBTORCH={self.torch}", self.build(LIBTORCH=str(self.torch)).stdout)
        again = self.build()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn(f"-DLIBTORCH={self.torch}", again.stdout)
        back = self.build(LIBTORCH="")
        self.assertIn("torch needs 3.10 or newer", back.stderr)

    def test_a_libtorch_that_cannot_be_used_or_is_gone_does_not_stay(self):
        self.assertNotEqual(self.build(LIBTORCH="/nowhere").returncode, 0)
        self.assertIn("torch needs 3.10 or newer", self.build().stderr)
        self.assertEqual(self.build(LIBTORCH=str(self.torch)).returncode, 0)
        self.torch.rmdir()
        self.assertIn("torch needs 3.10 or newer", self.build().stderr)

    def test_builds_all_or_the_targets_that_are_asked_for(self):
        self.assertNotIn("--target", self.build(LIBTORCH=str(self.torch)).stdout)
        self.assertIn("--target odb-trainer odb_apps_test", self.build(TARGETS="odb-trainer odb_apps_test").stdout)


if __name__ == "__main__":
    unittest.main()
