# shellcheck shell=bash
# Shared by the scripts in this folder (sourced, not run): paths, messages, number of jobs, virtual environments.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PYTHON=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '%s\n' "== $*"; }
fail() {
  printf '%s\n' "${0##*/}: $1" >&2
  exit "${2:-1}"
}

# With -h or --help as the first argument, a script prints its opening comment.
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n '2,/^[^#]/ s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$ROOT"

# One compile job per core, but no more than the memory permits: a file that includes LibTorch takes about 2 GB.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo)
  ((memory < 1)) && memory=1
  echo $((cores < memory ? cores : memory))
}

# make_venv FOLDER: creates a virtual environment of $PYTHON; replaces one that is broken or of another python.
make_venv() {
  local version='import sys; print(sys.version_info[:2])'
  if [[ "$("$1/bin/python" -c "$version" 2>/dev/null)" != "$("$PYTHON" -c "$version")" ]]; then
    say "Creating $1 with $("$PYTHON" --version)"
    rm -rf "$1"
    "$PYTHON" -m venv "$1" || fail "$PYTHON -m venv failed; install the package python3-venv"
  fi
}

# make_tools_venv: installs the pinned formatter and linter into $TOOLS.
TOOLS=$ROOT/.cache/tools-venv/bin
make_tools_venv() {
  make_venv .cache/tools-venv
  cmp -s scripts/requirements-tools.txt .cache/tools-venv/installed.txt && return
  "$TOOLS/python" -m pip install -q -r scripts/requirements-tools.txt
  cp scripts/requirements-tools.txt .cache/tools-venv/installed.txt
}

# install_torch VENV REQUIREMENT...: installs torch, and for a CUDA build the two header packages that the CUDA
# runtime's headers include. Downloads nothing when everything is installed; completes an interrupted install.
install_torch() {
  local venv=$1 cuda headers=()
  shift
  make_venv "$venv"
  venv_has "$venv" "$@" || "$venv/bin/python" -m pip install --progress-bar off "$@"
  cuda=$(sed -n "s/^cuda[^=]*= '\([0-9.]*\)'.*/\1/p" "$venv"/lib/python3*/site-packages/torch/version.py)
  if [[ -n $cuda ]]; then
    headers=("nvidia-cuda-crt==$cuda.*" "nvidia-cuda-cccl==$cuda.*")
    venv_has "$venv" "${headers[@]}" || "$venv/bin/python" -m pip install --progress-bar off "${headers[@]}"
  fi
}

# venv_has VENV REQUIREMENT...: whether every NAME==VERSION is completely installed (pip writes RECORD last).
venv_has() {
  local venv=$1 requirement name
  shift
  for requirement in "$@"; do
    name=${requirement%%==*}
    compgen -G "$venv/lib/python3*/site-packages/${name//-/_}-${requirement##*==}*.dist-info/RECORD" >/dev/null || return 1
  done
}
