"""Tests of cmake/FindLibTorch.cmake on made-up folders: each layout that it knows, and each refusal with its advice.

CMAKE (environment) names the cmake program. Nothing is compiled: a configure run of a few lines prints what was found.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

MODULES = pathlib.Path(__file__).resolve().parent.parent.parent / "cmake"
PROJECT = f"""
cmake_minimum_required(VERSION 3.22)
project(probe NONE)
list(APPEND CMAKE_MODULE_PATH "{MODULES}")
find_package(LibTorch REQUIRED)
foreach(name IN ITEMS VERSION ROOT_DIR CUDA NCCL CUPTI)
  message(STATUS "${{name}}=${{LibTorch_${{name}}}}")
endforeach()
foreach(name IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS LINK_LIBRARIES LINK_OPTIONS)
  get_target_property(value LibTorch::LibTorch INTERFACE_${{name}})
  message(STATUS "${{name}}=${{value}}")
endforeach()
"""


def write(folder, *names, text=""):
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def cpu_torch(folder, version="2.13.0"):
    write(folder, "include/torch/csrc/api/include/torch/torch.h", "lib/libtorch.so", "lib/libtorch_cpu.so", "lib/libc10.so")
    major, minor, _ = version.split(".")
    write(folder, "include/torch/headeronly/version.h",
          text=f"#define TORCH_VERSION_MAJOR {major}\n#define TORCH_VERSION_MINOR {minor}\n"
               f"#define TORCH_VERSION \\\n  \"{version}\"\n")


def cuda_torch(site, version="2.14.1"):
    """The torch folder of a CUDA package and the packages beside it."""
    cpu_torch(site / "torch", version)
    write(site / "torch", "lib/libtorch_cuda.so", "lib/libc10_cuda.so")
    write(site / "torch", "version.py", text="cuda: Optional[str] = '13.0'\n")
    cuda = site / "nvidia/cu13"
    write(cuda, "include/cuda_runtime_api.h", "include/crt/host_defines.h", "include/cccl/nv/target", "lib/libcudart.so.13")
    write(cuda, "include/cupti_version.h", text="#define CUPTI_API_VERSION 130001\n")
    write(site, "nvidia/nccl/lib/libnccl.so.2")
    write(site, "nvidia/nccl/include/nccl.h", text="#define NCCL_MAJOR 2\n#define NCCL_MINOR 30\n#define NCCL_PATCH 7\n")


class FindLibTorchTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        write(self.folder, "probe/CMakeLists.txt", text=PROJECT)

    def configure(self, *options, environment=None):
        """(exit code, {name: value} of what was found, whole output with line breaks as spaces)"""
        clean = {k: v for k, v in os.environ.items() if k not in ("LIBTORCH", "CUDA_HOME", "CUDA_PATH", "NCCL_HOME")}
        run = subprocess.run([os.environ.get("CMAKE", "cmake"), "-G", "Ninja", "-S", "probe", "-B", "out",
                              *options], cwd=self.folder,
                             env={**clean, **(environment or {})}, capture_output=True, text=True)
        lines = (line[3:].split("=", 1) for line in run.stdout.splitlines() if line.startswith("-- ") and "=" in line)
        return run.returncode, dict(lines), " ".join((run.stdout + run.stderr).split())

    def found(self, *options, **named):
        code, found, text = self.configure(*options, **named)
        self.assertEqual(code, 0, text)
        return found

    def refused(self, *options, **named):
        code, _, text = self.configure(*options, **named)
        self.assertNotEqual(code, 0, text)
        return text

    def test_every_way_to_name_the_folder(self):
        torch = self.folder / "env/lib/python3.11/site-packages/torch"
        cpu_torch(torch)
        cpu_torch(self.folder / "unzipped/libtorch")
        for place, root in [("env", torch), ("env/lib/python3.11/site-packages", torch),
                            ("env/lib/python3.11/site-packages/torch", torch),
                            ("unzipped", self.folder / "unzipped/libtorch"),
                            ("unzipped/libtorch", self.folder / "unzipped/libtorch")]:
            with self.subTest(place=place):
                found = self.found(f"-DLIBTORCH={self.folder / place}")
                self.assertEqual(found["ROOT_DIR"], str(root))
                self.assertEqual(found["VERSION"], "2.13.0")
                self.assertEqual((found["CUDA"], found["NCCL"], found["CUPTI"]), ("no", "no", "no"))

    def test_the_environment_is_remembered_and_the_option_wins(self):
        cpu_torch(self.folder / "one", "2.13.0")
        cpu_torch(self.folder / "two", "2.14.1")
        one = {"LIBTORCH": str(self.folder / "one")}
        self.assertEqual(self.found(environment=one)["VERSION"], "2.13.0")
        self.assertEqual(self.found()["VERSION"], "2.13.0")
        self.assertEqual(self.found(f"-DLIBTORCH={self.folder / 'two'}", environment=one)["VERSION"], "2.14.1")

    def test_without_a_word_it_is_the_checkout_s_own_environment(self):
        cpu_torch(self.folder / "probe/.venv/lib/python3.13/site-packages/torch")
        self.assertEqual(self.found()["VERSION"], "2.13.0")

    def test_headers_come_after_the_system_s_and_the_binary_finds_its_libraries(self):
        root = self.folder / "libtorch"
        cpu_torch(root)
        found = self.found(f"-DLIBTORCH={root}")
        for option in found["COMPILE_OPTIONS"].split(";"):
            self.assertTrue(option.startswith("SHELL:-idirafter "), option)
        self.assertIn(f'SHELL:-idirafter "{root}/include/torch/csrc/api/include"', found["COMPILE_OPTIONS"])
        self.assertEqual(found["LINK_OPTIONS"], f"-Wl,-rpath,{root}/lib")
        self.assertIn("USE_C10D_GLOO", found["COMPILE_DEFINITIONS"])
        self.assertNotIn("USE_C10D_NCCL", found["COMPILE_DEFINITIONS"])

    def test_a_cuda_package_with_the_packages_beside_it(self):
        site = self.folder / "env/lib/python3.11/site-packages"
        cuda_torch(site)
        found = self.found(f"-DLIBTORCH={self.folder / 'env'}", "-DODB_REQUIRE_CUDA=ON")
        self.assertEqual((found["VERSION"], found["CUDA"], found["NCCL"], found["CUPTI"]),
                         ("2.14.1", "13.0", "2.30.7", "130001"))
        self.assertIn(f"{site}/nvidia/cu13/include/cccl", found["COMPILE_OPTIONS"])
        self.assertIn("USE_C10D_NCCL", found["COMPILE_DEFINITIONS"])
        self.assertIn(f"--no-as-needed,{site}/torch/lib/libtorch_cuda.so", found["LINK_LIBRARIES"])
        for folder in ("torch/lib", "nvidia/cu13/lib", "nvidia/nccl/lib"):
            self.assertIn(f"-Wl,-rpath,{site}/{folder}", found["LINK_OPTIONS"])

    def test_a_cuda_zip_with_a_toolkit_s_headers(self):
        root, toolkit = self.folder / "libtorch", self.folder / "toolkit"
        cpu_torch(root, "2.13.0")
        write(root, "lib/libtorch_cuda.so", "lib/libc10_cuda.so", "lib/libcudart-1f0a.so.13")
        write(root, "build-version", text="2.13.0+cu130\n")
        write(toolkit, "include/cuda_runtime_api.h", "include/crt/host_defines.h", "include/cccl/nv/target")
        found = self.found(f"-DLIBTORCH={root}", environment={"CUDA_HOME": str(toolkit)})
        self.assertEqual((found["VERSION"], found["CUDA"]), ("2.13.0", "13.0"))
        self.assertIn("libcudart-1f0a.so.13", found["LINK_LIBRARIES"])
        self.assertIn(f"{toolkit}/include", found["COMPILE_OPTIONS"])

    def test_nothing_there_says_where_it_looked_and_how_to_get_it(self):
        text = self.refused()
        self.assertIn(f"{self.folder}/probe/.venv", text)
        self.assertIn("scripts/build.sh", text)
        self.assertIn("LIBTORCH", text)
        self.assertIn(f"{self.folder}/nowhere", self.refused(f"-DLIBTORCH={self.folder / 'nowhere'}"))

    def test_versions_are_judged(self):
        for version, message in [("2.12.1", "expected 2.13 or 2.14"), ("1.13.0", "expected 2.13 or 2.14")]:
            with self.subTest(version=version):
                cpu_torch(self.folder / version, version)
                self.assertIn(message, self.refused(f"-DLIBTORCH={self.folder / version}"))
        cpu_torch(self.folder / "new", "2.15.0")
        code, found, text = self.configure(f"-DLIBTORCH={self.folder / 'new'}")
        self.assertEqual((code, found["VERSION"]), (0, "2.15.0"))
        self.assertIn("built and tested with 2.13 and 2.14", text)

    def test_a_cpu_build_is_refused_where_cuda_is_required(self):
        cpu_torch(self.folder / "libtorch")
        text = self.refused(f"-DLIBTORCH={self.folder / 'libtorch'}", "-DODB_REQUIRE_CUDA=ON")
        self.assertIn("is a CPU build", text)


if __name__ == "__main__":
    unittest.main()
