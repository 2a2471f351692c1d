#!/bin/sh
# Runs the service inside the image that image_test.sh mounted at SERVICE_ROOT. It does not use chroot(2), under which the kernel refuses
# user namespaces (unshare(2), EPERM) that a container may have.
set -eu
# Some tests clear the PATH.
export SERVICE_PATH="$PATH" PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec unshare --mount sh -euc '
  cd "$SERVICE_ROOT"
  pivot_root . .
  umount --lazy .
  cd /app
  # Unquoted, to split CMD into words.
  exec setpriv --reuid="$SERVICE_USER" --regid="$(id -g "$SERVICE_USER")" --init-groups --inh-caps=-all \
    env PATH="$SERVICE_PATH" /usr/local/bin/$SERVICE_CMD'
