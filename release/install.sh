#!/bin/sh
# Installs memwall for Linux and macOS: curl -fsSL https://github.com/memwall/memwall/releases/latest/download/install.sh | sh
#
#   MEMWALL_VERSION=1.2.3   that version instead of the newest
#   PREFIX=/usr/local       PREFIX/bin instead of ~/.local/bin
#   MEMWALL_BASE=URL        a mirror's folder with SHA256SUMS and the archives
#
# The archive is checked against SHA256SUMS, and nothing is replaced before the new program has run.
set -eu

main() {
	case "$(uname -s)" in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no archive for $(uname -s); Windows has scoop and winget" ;;
	esac
	case "$(uname -m)" in
	x86_64 | amd64) arch=amd64 ;;
	arm64 | aarch64) arch=arm64 ;;
	*) fail "there is no archive for processors of $(uname -m)" ;;
	esac
	releases=https://github.com/memwall/memwall/releases
	if [ -n "${MEMWALL_BASE:-}" ]; then
		base=$MEMWALL_BASE
	elif [ -n "${MEMWALL_VERSION:-}" ]; then
		base=$releases/download/v$MEMWALL_VERSION
	else
		base=$releases/latest/download
	fi
	to=${PREFIX:-$HOME/.local}/bin
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	fetch "$base/SHA256SUMS" "$work/SHA256SUMS"
	line=$(grep -E "^[0-9a-f]{64}  memwall_${MEMWALL_VERSION:-[^_]*}_${os}_$arch\.tar\.gz\$" "$work/SHA256SUMS") || fail "$base/SHA256SUMS names no archive of ${MEMWALL_VERSION:-memwall} for $os $arch"
	sum=${line%% *}
	name=${line##* }
	fetch "$base/$name" "$work/$name"
	[ "$(sum_of "$work/$name")" = "$sum" ] || fail "$name is not what SHA256SUMS says: try again, or report it"
	tar -xzf "$work/$name" -C "$work"
	folder=$work/${name%.tar.gz}
	"$folder/memwall" version >/dev/null || fail "the program does not run here"
	mkdir -p "$to"
	cp "$folder/memwall" "$to/.memwall.$$"
	mv -f "$to/.memwall.$$" "$to/memwall"
	echo "$("$to/memwall" version | head -n 1) in $to/memwall"
	case ":$PATH:" in
	*":$to:"*) ;;
	*) echo "$to is not on your PATH" ;;
	esac
}

fail() {
	echo "install: $*" >&2
	exit 1
}

fetch() {
	if command -v curl >/dev/null; then
		curl -fsSL --retry 3 -o "$2" "$1" || fail "$1 cannot be fetched"
	elif command -v wget >/dev/null; then
		wget -q -O "$2" "$1" || fail "$1 cannot be fetched"
	else
		fail "neither curl nor wget is here"
	fi
}

sum_of() {
	if command -v sha256sum >/dev/null; then
		sha256sum "$1" | cut -d ' ' -f 1
	else
		shasum -a 256 "$1" | cut -d ' ' -f 1
	fi
}

main
