#!/bin/bash
# Formats all C++ files with the pinned clang-format. With --check it only lists files that differ, and fails.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mode=(-i)
case "${1:-}" in
  "") ;;
  --check) mode=(--dry-run --Werror) ;;
  *) fail "found '$1', expected nothing or --check" 2 ;;
esac
make_tools_venv
git ls-files --cached --others --exclude-standard '*.h' '*.cc' | xargs -r "$TOOLS/clang-format" "${mode[@]}"
say "clang-format: done"
