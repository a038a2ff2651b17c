# shellcheck shell=bash
# Shared by the scripts in this folder (sourced, not run): where things are, how to speak, how many jobs.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PYTHON=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '%s\n' "== $*"; }
fail() {
  printf '%s\n' "${0##*/}: $1" >&2
  exit "${2:-1}"
}

# With -h or --help as first word a script prints the comment it begins with.
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n '2,/^[^#]/ s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$ROOT"

# One compile job per core, but no more than memory allows: a file that includes LibTorch takes about 2 GB.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo)
  ((memory < 1)) && memory=1
  echo $((cores < memory ? cores : memory))
}

# make_venv FOLDER: a virtual environment of $PYTHON, made anew when it is broken or of another python.
make_venv() {
  local version='import sys; print(sys.version_info[:2])'
  if [[ "$("$1/bin/python" -c "$version" 2>/dev/null)" != "$("$PYTHON" -c "$version")" ]]; then
    say "Making $1 with $("$PYTHON" --version)"
    rm -rf "$1"
    "$PYTHON" -m venv "$1" || fail "$PYTHON -m venv failed; install the package python3-venv"
  fi
}

# make_tools_venv: the pinned formatter and linter, in $TOOLS.
TOOLS=$ROOT/.cache/tools-venv/bin
make_tools_venv() {
  make_venv .cache/tools-venv
  cmp -s scripts/requirements-tools.txt .cache/tools-venv/installed.txt && return
  "$TOOLS/python" -m pip install -q -r scripts/requirements-tools.txt
  cp scripts/requirements-tools.txt .cache/tools-venv/installed.txt
}

# install_torch VENV REQUIREMENT...: torch, and for a CUDA build the two header packages that the CUDA runtime's own headers
# want. Downloads nothing when everything is there; a folder whose install was cut short is completed.
install_torch() {
  local venv=$1 cuda wanted=()
  shift
  make_venv "$venv"
  venv_has "$venv" "$@" || "$venv/bin/python" -m pip install --progress-bar off "$@"
  cuda=$(sed -n "s/^cuda[^=]*= '\([0-9.]*\)'.*/\1/p" "$venv"/lib/python3*/site-packages/torch/version.py)
  if [[ -n $cuda ]]; then
    wanted=("nvidia-cuda-crt==$cuda.*" "nvidia-cuda-cccl==$cuda.*")
    venv_has "$venv" "${wanted[@]}" || "$venv/bin/python" -m pip install --progress-bar off "${wanted[@]}"
  fi
}

# venv_has VENV REQUIREMENT...: all of NAME==VERSION are installed to the end (pip writes RECORD last).
venv_has() {
  local venv=$1 requirement name
  shift
  for requirement in "$@"; do
    name=${requirement%%==*}
    compgen -G "$venv/lib/python3*/site-packages/${name//-/_}-${requirement##*==}*.dist-info/RECORD" >/dev/null || return 1
  done
}
