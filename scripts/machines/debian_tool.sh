#!/bin/sh
# Unpacks a Debian package and its dependencies into a directory, with launchers for its programs: for versions that this machine
# does not have. It installs nothing and needs no root, but apt-get, Debian's keys and the network.
#   scripts/machines/debian_tool.sh SUITE PACKAGE DIRECTORY PROGRAM…     (SUITE - is this machine's)
#   scripts/machines/debian_tool.sh trixie ffmpeg /opt/ffmpeg-7.1 usr/bin/ffmpeg usr/bin/ffprobe
set -eu
own=$(. /etc/os-release && echo "$VERSION_CODENAME")
suite=$1 package=$2
[ "$suite" != - ] || suite=$own
mkdir -p "$3"
to=$(cd "$3" && pwd)
shift 3
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
mkdir -p "$state/lists/partial" "$state/archives/partial" "$state/parts"
: >"$state/status"
# The mirror of this machine, for any release.
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format "\$(SITE)" | head -1)}
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror $suite main" >"$state/sources.list"
apt() {
  apt-get -q -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state" \
    -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts="$state/parts" -o Debug::NoLocking=1 \
    -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=0 -o Acquire::Check-Valid-Until=0 "$@"
}
apt update
apt install -y --download-only "$package"
for archive in "$state"/archives/*.deb; do dpkg-deb -x "$archive" "$to/root"; done

libraries=$(find "$to/root/lib" "$to/root/usr/lib" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | paste -sd:)
loader=$(find "$to/root" -name 'ld-linux-*' | head -1)
# With the loader of the package, a program can be newer than this machine. Chromium restarts itself through /proc/self/exe,
# which requires the loader of the machine: use a package of this machine's release.
case $own in
  "$suite") start="LD_LIBRARY_PATH='$libraries' exec" ;;
  *) start="exec '$loader' --library-path '$libraries'" ;;
esac
for program; do
  printf '#!/bin/sh\n%s "%s" "$@"\n' "$start" "$to/root/$program" >"$to/${program##*/}"
  chmod 755 "$to/${program##*/}"
done
