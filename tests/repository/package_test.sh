#!/usr/bin/env bash
# Installs a build, moves the installation, hides the checkout, and then uses what is installed: installed_test.sh.
set -euo pipefail
build=$(realpath "$1") checkout=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/installed"
cp "$checkout"/tests/repository/{installed_test.sh,follow_guide.py} "$scratch"

# A mount that only the second script sees covers the checkout, the build and the libtorch of the build.
hidden=("$checkout" "$build" "$(realpath "$checkout/.venv" 2>/dev/null || echo "$checkout")")
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
  cd /
  exec unshare --mount bash -euc '
    scratch=$1; shift
    for folder in "$@"; do [ ! -d "$folder" ] || mount -t tmpfs none "$folder"; done
    [ ! -e "$1/README.md" ] || { echo "package: the checkout can still be seen" >&2; exit 1; }
    status=0
    bash "$scratch/installed_test.sh" "$scratch" || status=$?
    rm -rf "$scratch"
    exit $status' package "$scratch" "${hidden[@]}"
fi
echo "package: without root the checkout stays visible"
bash "$scratch/installed_test.sh" "$scratch"
