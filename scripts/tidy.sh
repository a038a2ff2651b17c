#!/bin/bash
# Runs the pinned clang-tidy with the checks of .clang-tidy, over the modules without LibTorch.
#
#   scripts/tidy.sh [--changed]      files that changed, or whose headers changed, since they last passed
#   scripts/tidy.sh --all            all of them
#   scripts/tidy.sh --torch          all, and the modules with LibTorch (after scripts/build.sh; about 30 s per file)
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mode=${1:---changed}
make_tools_venv
case "$mode" in
  --changed | --all)
    folder=build/tidy
    cmake --preset release -B "$folder" -DODB_WITH_LIBTORCH=OFF >/dev/null
    cmake --build "$folder" --target odb_version_source >/dev/null
    ;;
  --torch)
    folder=build/release
    [[ -f $folder/compile_commands.json ]] || fail "run scripts/build.sh first"
    ;;
  *) fail "found '$mode', expected --changed, --all or --torch" 2 ;;
esac
options=(--clang-tidy "$TOOLS/clang-tidy" --build "$folder" --jobs "$(nproc)")
[[ $mode != --changed ]] || options+=(--passed "${XDG_CACHE_HOME:-$HOME/.cache}/odb-trainer/tidy")
"$PYTHON" scripts/tidy.py "${options[@]}"
