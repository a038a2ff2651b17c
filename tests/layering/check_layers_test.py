"""Tests of check_layers.py on small trees made for the purpose: good arrows pass, each kind of wrong one is named."""

import pathlib
import tempfile
import unittest

import check_layers

GOOD = {  # sources come with a CMake list of their own (see faults_of)
    "lib/base/log.h": "#include <map>\n#include <spdlog/logger.h>\n",
    "lib/batching/round.cc": '#include "batching/round.h"\n#include <map>\n#include "base/error.h"\n',
    "lib/batching/quoted.cc": '// #include <thread>\n/* as in\n#include <thread>\n*/\n',
    "lib/batching/CMakeLists.txt": "odb_add_module(batching\n  SOURCES\n    round.cc\n  USES base\n  LINK fmt::fmt)\n",
    "lib/tokenizer/bpe.cc": '#include "base/error.h"\n',
    "lib/plan/meters.cc": '#include "batching/round.h"\n',
    "lib/data/ring.cc": '#include <sys/mman.h>\n#include "batching/item.h"\n#include "tokenizer/bpe.h"\n',
    "lib/model/block.h": "#include <torch/types.h>\n",
    "lib/dist/peers.cc": '#include <gloo/context.h>\n#include "batching/peers.h"\n',
    "lib/train/step.cc": '#include "profile/meters.h"\n#include "data/arena.h"\n#include "model/language_model.h"\n',
    "lib/launch/rank_end.cc": '#include "base/error.h"\n',
    "apps/trainer/CMakeLists.txt": "add_executable(odb-trainer\n  main.cc\n  ${version_source})\n",
    "apps/trainer/main.cc": '#include "commands.h"\n#include "train/loop.h"\n',
}

WRONG = [  # file, its text, a part of the one expected fault
    ("lib/base/log.cc", '#include "data/ring.h"\n', "lib/base/log.cc:1: #include \"data/ring.h\": base must not use data"),
    ("lib/batching/a.cc", '\n  #  include "data/ring.h"\n', "lib/batching/a.cc:2"),
    ("lib/batching/a.cc", "#include <chrono>\n", "batching is pure"),
    ("lib/batching/a.cc", "#include <mutex>\n", "batching is pure"),
    ("lib/batching/a.cc", "#include <thread>\n", "batching is pure"),
    ("lib/batching/a.cc", "#include <cstdio>\n", "batching is pure"),
    ("lib/batching/a.cc", "#include <iostream>\n", "batching is pure"),
    ("lib/batching/a.cc", "#include <random>\n", "batching is pure"),
    ("lib/batching/a.h", "#import <thread>\n", "batching is pure"),
    ("lib/batching/a.h", "#include_next <thread>\n", "batching is pure"),
    ("lib/base/a.h", '#import "data/ring.h"\n', "base must not use data"),
    ("lib/tokenizer/a.cc", '#include "data/ring.h"\n', "tokenizer must not use data"),
    ("lib/batching/a.cc", '#include "plan/meters.h"\n', "batching must not use plan"),
    ("lib/plan/a.cc", '#include "data/ring.h"\n', "plan must not use data"),
    ("lib/launch/a.cc", '#include "train/loop.h"\n', "launch must not use train"),
    ("lib/train/a.cc", '#include "launch/rank_end.h"\n', "train must not use launch"),
    ("lib/batching/a.cc", '#include "base/real_file_system.h"\n', "batching is pure"),
    ("lib/batching/a.cc", '#include "base/signals.h"\n', "batching is pure"),
    ("lib/base/a.hpp", '#include "data/ring.h"\n', "lib/base/a.hpp:1"),
    ("lib/base/a.cpp", '#include "data/ring.h"\n', "lib/base/a.cpp:1"),
    ("lib/base/a.cc", '/* a\n b */ #include /* c */ "data/ring.h"\n', "lib/base/a.cc:2"),
    ("lib/base/a.cc", '#include \\\n"data/ring.h"\n', "base must not use data"),
    ("lib/base/a.cc", "#include RING_HEADER\n", "hidden by a macro"),
    ("lib/base/CMakeLists.txt", "target_link_libraries(odb_base PUBLIC fmt odb_data)\n", "odb_data: not permitted for base"),
    ("lib/batching/a.cc", "#include <sys/socket.h>\n", "batching is pure"),
    ("lib/data/a.h", "#include <torch/torch.h>\n", "data does without LibTorch"),
    ("lib/data/a.h", "#include <c10/core/Device.h>\n", "data does without LibTorch"),
    ("lib/base/a.h", "#include <cuda_runtime_api.h>\n", "base does without LibTorch"),
    ("lib/data/a.h", '#include "../base/error.h"\n', "relative path"),
    ("lib/data/a.h", '#include "ring.h"\n', "no module folder"),
    ("lib/data/a.h", '#include "support/ring.h"\n', "unknown module 'support'"),
    ("lib/data/a.h", "#include <base/error.h>\n", "angle brackets"),
    ("lib/model/a.cc", '#include "dist/groups.h"\n', "model must not use dist"),
    ("lib/model/a.cc", '#include "train/step.h"\n', "model must not use train"),
    ("lib/dist/a.cc", '#include "model/language_model.h"\n', "dist must not use model"),
    ("lib/helpers/a.cc", "", "lib/helpers: unknown module"),
    ("lib/data/CMakeLists.txt", "odb_add_module(data\n SOURCES a.cc\n USES base model)\n", "USES model: not permitted"),
    ("lib/data/CMakeLists.txt", "odb_add_module(data TORCH SOURCES a.cc)\n", "data does without LibTorch"),
    ("apps/trainer/a.cc", '#include "../../lib/base/error.h"\n', "relative path"),
]

UNLISTED = [  # a CMake list with a fault of its own, or a source beside GOOD's lists
    ("lib/base/hidden.cc", "", "lib/base/hidden.cc: no CMake target lists it"),
    ("lib/base/deep/hidden.cc", "", "lib/base/deep/hidden.cc: no CMake target lists it"),
    ("apps/trainer/hidden.cc", "", "apps/trainer/hidden.cc: no CMake target lists it"),
    ("lib/base/CMakeLists.txt", "target_sources(odb_base PRIVATE ../data/ring.cc)\n", "../data/ring.cc: not a source of lib/base"),
    ("lib/base/CMakeLists.txt", "target_sources(odb_base PRIVATE ${CMAKE_SOURCE_DIR}/lib/data/ring.cc)\n", "not a source of lib/base"),
    ("lib/base/CMakeLists.txt", "odb_add_module(base SOURCES ../model/block.cc)\n", "../model/block.cc: not a source of lib/base"),
    ("lib/base/CMakeLists.txt", "# target_sources(odb_base PRIVATE hidden.cc)\n", ""),
]


def with_lists(files):
    """The files, and in each folder of lib/ that has sources but no CMake list one that names them."""
    made = dict(files)
    for name in files:
        path = pathlib.PurePosixPath(name)
        if path.parts[0] == "lib" and path.suffix in check_layers.SOURCES:
            cmake = str(path.parent / "listed" / "CMakeLists.txt")
            made[cmake] = made.get(cmake, "") + f"target_sources(odb PRIVATE ../{path.name})\n"
        elif path.suffix in check_layers.SOURCES and path.name != "main.cc":
            made[str(path.parent / "CMakeLists.txt")] += f"target_sources(odb-trainer PRIVATE {path.name})\n"
    return made


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = pathlib.Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return list(check_layers.faults(pathlib.Path(folder)))


class CheckLayersTest(unittest.TestCase):
    def test_good_arrows_pass(self):
        self.assertEqual(faults_of(with_lists(GOOD)), [])

    def test_each_wrong_arrow_is_named_and_nothing_else(self):
        for name, text, expected in WRONG:
            with self.subTest(file=name, text=text):
                found = faults_of(with_lists({**GOOD, name: text}))
                self.assertEqual(len(found), 1, found)
                self.assertIn(expected, found[0])

    def test_targets_list_the_sources_of_their_folder(self):
        for name, text, expected in UNLISTED:
            with self.subTest(file=name, text=text):
                found = faults_of({**with_lists(GOOD), name: text})
                self.assertEqual(len(found), 1 if expected else 0, found)
                self.assertIn(expected, "".join(found))

    def test_the_table_has_no_cycle_and_knows_its_own_names(self):
        done = set()
        while len(done) < len(check_layers.ARROWS):
            ready = {m for m, uses in check_layers.ARROWS.items() if uses <= done} - done
            self.assertTrue(ready, f"a cycle among {set(check_layers.ARROWS) - done}")
            done |= ready
        self.assertEqual(done, check_layers.ALL)


if __name__ == "__main__":
    unittest.main()
