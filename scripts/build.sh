#!/bin/bash
# Builds build/release/odb-trainer on a fresh machine: installs system packages and LibTorch, configures, builds. It can
# be run again at any time; finished steps are skipped.
#
#   scripts/build.sh [cmake options]      e.g. -DODB_WITH_LIBTORCH=OFF
#   PRESET=debug scripts/build.sh         a preset of CMakePresets.json (default: release)
#   LIBTORCH=/opt/libtorch scripts/build.sh      another LibTorch than the one in .venv; later runs keep it
#   LIBTORCH= scripts/build.sh            returns to the one in .venv
#   TARGETS=odb-trainer scripts/build.sh  builds only this target, without tests and benchmarks
#   PYTHON=python3.12 scripts/build.sh    the python whose torch package is installed (3.10 or newer)
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
PRESET=${PRESET:-release}

# Prints the packages that are not installed. The name of the runtime's package contains clang's version, so it is known
# only once clang is installed.
missing_packages() {
  local package
  grep -v '^#' scripts/packages.txt | while read -r package; do
    [[ -z $package || $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
  if command -v clang >/dev/null && ! compgen -G "$(clang -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a" >/dev/null; then
    echo "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
  fi
}

install_packages() {
  local missing become=() runtime='' install='apt-get install -y --no-install-recommends'
  if ! command -v dpkg-query >/dev/null; then
    say "This is not Debian or Ubuntu: please install the equivalents of scripts/packages.txt yourself"
    return
  fi
  missing=$(missing_packages | tr '\n' ' ')
  [[ -z $missing ]] && return
  if ((EUID != 0)); then
    become=(sudo)
    [[ -t 0 ]] || become+=(-n)
    if ! "${become[@]}" true 2>/dev/null; then
      # shellcheck disable=SC2016
      command -v clang >/dev/null || runtime='&& apt-get install -y "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"'
      fail "system packages are missing; please run this line as root and start again:
  apt-get update && $install $missing$runtime" 2
    fi
  fi
  say "Installing system packages: $missing"
  "${become[@]}" apt-get update -q || say "apt-get update failed; trying with the existing package lists"
  # shellcheck disable=SC2086
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive $install -q $missing || fail "could not install: $missing"
  missing=$(missing_packages | tr '\n' ' ')
  [[ -z $missing ]] && return
  # shellcheck disable=SC2086
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive $install -q $missing \
    || say "Could not install $missing: fuzz targets cannot be built; everything else can"
}

# Prints the folder from which CMake takes LibTorch; empty: .venv.
libtorch() {
  if [[ -z ${LIBTORCH+given} && -f build/$PRESET/build.ninja ]]; then
    LIBTORCH=$(sed -n 's/^LIBTORCH:PATH=//p' "build/$PRESET/CMakeCache.txt")
    [[ -e $LIBTORCH ]] || LIBTORCH=
  fi
  if [[ -n ${LIBTORCH:-} ]]; then
    realpath -m "$LIBTORCH"
    return
  fi
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
    || fail "$PYTHON is $("$PYTHON" --version), torch needs 3.10 or newer: set PYTHON, or LIBTORCH to an unpacked libtorch zip"
  # shellcheck disable=SC2046
  install_torch .venv $(grep -v '^#' scripts/requirements.txt) >&2
}

install_packages
options=("$@")
case "$PRESET $*" in
  asan* | tsan* | fuzz* | *ODB_WITH_LIBTORCH=OFF*) ;;
  *)
    place=$(libtorch)
    options+=("-DLIBTORCH=$place")
    ;;
esac
say "Configuring preset $PRESET"
cmake --preset "$PRESET" "${options[@]}"
say "Building with $(jobs) jobs"
# shellcheck disable=SC2086
cmake --build --preset "$PRESET" -j "$(jobs)" ${TARGETS:+--target $TARGETS}
say "Built build/$PRESET/odb-trainer"
