#!/usr/bin/env bash
# Writes FILE with VERSION and the commit that is built, for `udckpt --version`; Maven runs it (cli/pom.xml).
# Outside of a clone, or without git, the commit is unknown.
# usage: version.sh VERSION FILE
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
commit=unknown
# The tree may lie in somebody else's clone, whose commit is none of it.
if top=$(git -C "$root" rev-parse --show-toplevel 2>/dev/null) && [ "$top" = "$root" ]; then
    commit=$(git -C "$root" describe --always --dirty=+changes --abbrev=12 --exclude='*' 2>/dev/null) || commit=unknown
fi
text="$1 (commit $commit)"
mkdir -p "$(dirname "$2")"
# A file that is newer would have the jar made anew, and the archive of its classes.
[ -f "$2" ] && [ "$(cat "$2")" = "$text" ] || printf '%s\n' "$text" >"$2"
