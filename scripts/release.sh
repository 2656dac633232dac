# `./udckpt release VERSION`: a version of the project: a commit that names it, all checks, a tag in this clone, and in
# target/release/VERSION packages, a bill of materials and checksums (CONTRIBUTING.md). It publishes nothing.

changes() { printf '%s' "$root/CHANGELOG.md"; }

# The version of the first section of the list of changes.
newest_section() { sed -n 's/^## \([^ ]*\).*/\1/p' "$(changes)" | head -n 1; }

# release_text VERSION: what the list of changes says of it
release_text() { awk -v head="## $1 " 'index($0, head) == 1 { on = 1; next } on && /^## / { exit } on' "$(changes)"; }

# releasable VERSION: whether this clone is one that it can be made of
releasable() {
    local changed
    git -C "$root" rev-parse --git-dir >/dev/null 2>&1 || die 66 "a release is made of a clone, and $root is none"
    changed=$(git -C "$root" status --porcelain | head -n 3)
    [ -z "$changed" ] ||
        die 65 "the tree has changes: commit or remove them first: $(printf '%s' "$changed" | paste -sd,)"
    ! git -C "$root" rev-parse -q --verify "refs/tags/v$1" >/dev/null || die 65 "there is a release $1: tag v$1"
    [ "$(newest_section)" = "$1" ] ||
        die 65 "CHANGELOG.md begins with $(newest_section): begin it with '## $1 (not released yet)' and its changes"
    [ -n "$(release_text "$1" | tr -d '[:space:]')" ] || die 65 "CHANGELOG.md says nothing of $1"
}

# name_version VERSION: in all files that have the one before
name_version() {
    local old new=$1
    old=$(project_version)
    (
        cd "$root" || exit
        sed -i "0,/<version>/s:<version>$old</version>:<version>$new</version>:" pom.xml
        git ls-files -z -- '*/pom.xml' | xargs -0 sed -i \
            "/<parent>.*<artifactId>udckpt</s:<version>$old</version>:<version>$new</version>:"
        sed -i "s/\(^\|[^0-9.]\)${old//./\\.}\([^0-9.]\|\$\)/\1$new\2/g" README.md docs/operator/install.md \
            share/spack/spack_repo/udckpt/packages/udckpt/package.py
        sed -i "s/^## $new .*/## $new ($(date -u +%F))/" CHANGELOG.md
    )
    [ "$(project_version)" = "$new" ] || die 70 "the version in pom.xml is $(project_version), and not $new"
}

# checksums DIRECTORY
checksums() { (cd "$1" && find . -type f ! -name SHA256SUMS -printf '%P\0' | LC_ALL=C sort -z |
    xargs -0 sha256sum >SHA256SUMS); }

# release VERSION
release() {
    local version=${1-} output
    [ $# = 1 ] && [[ $version =~ ^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}$ ]] ||
        die 64 "usage: ./udckpt release MAJOR.MINOR.PATCH"
    releasable "$version"
    output=$root/target/release/$version
    rm -rf "$output"
    mkdir -p "$output"
    name_version "$version"
    # One that is a month old costs a restart a tenth of its start.
    build
    package --train
    git -C "$root" commit -q -a -m "Version $version" ||
        die 70 "the commit of version $version could not be made: see above, and take the changes back (git checkout .)"
    say "checks of version $version: lint, test, test slow"
    # Each in a process of its own: they end the shell where something is wrong.
    if ! { "$root/udckpt" lint && "$root/udckpt" test && "$root/udckpt" test slow; } >"$output.log" 2>&1; then
        die 1 "version $version is not good: $output.log says why; mend it, and take its commit back first" \
            "(git reset --hard HEAD^)"
    fi
    git -C "$root" checkout -q -- results/slow.txt # names this commit, in which it cannot be
    build
    package --output "$output"
    install -m 644 "$root/target/sbom.json" "$output/udckpt-$version-sbom.json"
    release_text "$version" >"$output/CHANGES"
    checksums "$output"
    git -C "$root" tag -a "v$version" -F "$output/CHANGES" || die 70 "tag v$version could not be made"
    say "version $version is tag v$version here, and in $output: publish both, and begin CHANGELOG.md with the next"
}
