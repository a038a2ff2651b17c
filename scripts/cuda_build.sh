#!/bin/bash
# Builds everything against a CUDA build of LibTorch and runs the tests that need no GPU. The 5 GB of torch are kept
# in the user's cache folder between runs. If torch cannot be installed, the step reports that clearly and succeeds: a
# machine without disk space or network must not fail a change.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
TORCH=2.14.1
ROOM_GB=12

skip() {
  say "CUDA STEP SKIPPED: $1"
  exit 0
}

tag=$("$PYTHON" -c 'import sys; print(f"cp{sys.version_info[0]}{sys.version_info[1]}")')
cache=${XDG_CACHE_HOME:-$HOME/.cache}/odb-trainer
venv=$cache/cuda-torch-$TORCH-$tag
mkdir -p "$cache"
if ! venv_has "$venv" "torch==$TORCH"; then
  free=$(df --output=avail -BG "$cache" | tail -1 | tr -dc 0-9)
  ((free >= ROOM_GB)) || skip "found $free GB free in $cache, expected at least $ROOM_GB to install torch $TORCH"
fi
(install_torch "$venv" "torch==$TORCH") || skip "torch $TORCH could not be installed into $venv"
compgen -G "$venv/lib/python3*/site-packages/torch/lib/libtorch_cuda.so" >/dev/null \
  || skip "the torch $TORCH for this machine is a CPU build"

export PRESET=cuda LIBTORCH=$venv
scripts/build.sh
build/cuda/odb-trainer version
say "Testing preset cuda, tests with the label unit"
ctest --preset cuda -L '^unit$' --no-tests=error -j "$(nproc)"
