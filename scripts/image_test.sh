#!/bin/sh
# Runs the transcoder's tests against the service inside its image, with the image's ffmpeg and user, and a root file system that
# is read-only except for /tmp. Needs root, buildah, and the image.
#   npm run test:image [-- NAMES OF TESTS]      IMAGE=localhost/tonearm-transcoder
set -eu
cd "$(dirname "$0")/.."
export STORAGE_DRIVER="${STORAGE_DRIVER:-vfs}" BUILDAH_ISOLATION=chroot
image="${IMAGE:-localhost/tonearm-transcoder}"

fail() {
  echo "test:image: $1" >&2
  exit 1
}
[ "$(id -u)" = 0 ] || fail 'only root may mount the image'
for program in buildah unshare pivot_root setpriv vitest; do
  command -v "$program" >/dev/null || fail "$program is not installed"
done
buildah inspect --type image "$image" >/dev/null 2>&1 || fail "no image $image: buildah bud -f container/Dockerfile -t ${image##*/} ."

container=$(buildah from --pull=never "$image")
trap 'buildah rm "$container" >/dev/null' EXIT
trap 'exit 130' INT TERM HUP
SERVICE_ROOT=$(buildah mount "$container")
SERVICE_USER=$(buildah inspect --format '{{.OCIv1.Config.User}}' "$container")
SERVICE_CMD=$(buildah inspect --format '{{range .OCIv1.Config.Cmd}}{{.}} {{end}}' "$container")
[ "${SERVICE_CMD%% *}" = node ] || fail "the image's CMD does not start node: $SERVICE_CMD"
export SERVICE_ROOT SERVICE_USER SERVICE_CMD SERVICE_COMMAND="$PWD/scripts/image_service.sh"

# The fixtures come from another ffmpeg: the image's has few encoders.
packaged() { node --print "require('@$1-installer/$1').path"; }
export FIXTURE_FFMPEG_PATH="${FIXTURE_FFMPEG_PATH:-$(packaged ffmpeg)}"
export FIXTURE_FFPROBE_PATH="${FIXTURE_FFPROBE_PATH:-$(packaged ffprobe)}"
export FFMPEG_PATH=/usr/local/bin/ffmpeg FFPROBE_PATH=/usr/local/bin/ffprobe NODE_ENV=production

# Only these tests see the mounts, which end with them, so that `buildah rm` never finds /tmp inside the image.
unshare --mount sh -euc '
  mount --bind "$SERVICE_ROOT" "$SERVICE_ROOT"
  for directory in tmp proc dev; do mount --rbind "/$directory" "$SERVICE_ROOT/$directory"; done
  mount -o remount,bind,ro "$SERVICE_ROOT"
  exec vitest run --project container "$@"' sh "$@"
