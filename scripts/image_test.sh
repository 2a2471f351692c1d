#!/bin/sh
# Runs the transcoder's tests against the service inside its image, with the image's own ffmpeg: in a chroot of the image that is
# read-only but for /tmp, as the image's own user. Needs root and buildah, and an image that was built before.
#   npm run test:image [-- NAMES OF TESTS]      IMAGE=localhost/tonearm-transcoder
set -eu
cd "$(dirname "$0")/.."
# The mounts below are seen by nobody else and go with this process.
[ -n "${MOUNTS_ARE_PRIVATE:-}" ] || MOUNTS_ARE_PRIVATE=1 exec unshare --mount "$0" "$@"

export STORAGE_DRIVER="${STORAGE_DRIVER:-vfs}"
container=$(buildah from --pull=never "${IMAGE:-localhost/tonearm-transcoder}")
trap 'cd /; umount -R "$root" 2>/dev/null || true; buildah rm "$container" >/dev/null' EXIT
root=$(buildah mount "$container")
user=$(buildah inspect --format '{{.OCIv1.Config.User}}' "$container")
mount --bind "$root" "$root"
for directory in tmp proc dev; do mount --rbind "/$directory" "$root/$directory"; done
mount -o remount,bind,ro "$root"

# The fixtures come from an ffmpeg outside: the image's has few encoders.
packaged() { node --print "require('@$1-installer/$1').path"; }
export FIXTURE_FFMPEG_PATH="${FIXTURE_FFMPEG_PATH:-$(packaged ffmpeg)}"
export FIXTURE_FFPROBE_PATH="${FIXTURE_FFPROBE_PATH:-$(packaged ffprobe)}"
export FFMPEG_PATH=/usr/local/bin/ffmpeg FFPROBE_PATH=/usr/local/bin/ffprobe
export SERVICE_ROOT="$root" NODE_ENV=production
export SERVICE_COMMAND="chroot --userspec=$user $root /usr/local/bin/node /app/container/server.ts"
vitest run --project container "$@"
