#!/usr/bin/env bash
# Prints the licences and notices of what the programs link: Go's own, and those of every
# module, from the module cache. A module without a licence is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

programs=(./cmd/vitals ./cmd/healthcheck)

# texts DIRECTORY prints the paths of the licences and notices in it.
texts() { find -L "$1" -maxdepth 1 -type f -iregex '.*/\(un\)?\(licen[cs]e\|copying\|copyright\|notice\|patents\)[^/]*' ! -name '*.go' | LC_ALL=C sort; }

# notice NAME FILE... prints the files below the name.
notice() {
    printf '%s\n' "================================================================================" "$1" ""
    shift
    for file; do cat "$file" && echo; done
}

goroot=$(go env GOROOT)
packages=$(CGO_ENABLED=0 go list -deps -tags grpcnotrace -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}} {{$.Dir}}{{end}}{{end}}' "${programs[@]}" | LC_ALL=C sort)

echo "Vitals contains the software below. Its own licence is in the file LICENSE."
echo
notice "Go $(go env GOVERSION)" "$goroot/LICENSE" "$goroot/PATENTS"
while read -r module version root; do
    # A package may have a licence of its own, below that of its module.
    mapfile -t files < <(awk -v module="$module" -v root="$root" '$1 == module {
        for (dir = $4; length(dir) >= length(root); sub("/[^/]*$", "", dir)) print dir
    }' <<<"$packages" | LC_ALL=C sort -u | while read -r dir; do texts "$dir"; done)
    [ ${#files[@]} -gt 0 ] || { echo "${0##*/}: $module $version has no licence in $root" >&2 && exit 1; }
    notice "$module $version" "${files[@]}"
done < <(cut -d ' ' -f 1-3 <<<"$packages" | uniq)
