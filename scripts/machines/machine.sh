#!/bin/sh
# Runs a command under the conditions of a more restricted machine. `npm run matrix` uses it; to run it by hand:
#   scripts/machines/machine.sh docker+shm+ipv4 npm test
#   docker  root as in a Docker container: 14 capabilities, no mounts, no namespaces
#   shm     64 MB of /dev/shm, as in a Docker container
#   ipv4    no IPv6, and a network without hosts
#   user    an ordinary user without an entry in /etc/passwd
#   core    one core
# Needs Linux with util-linux. All conditions except `core` need root, and `ipv4` needs iproute2. It changes nothing on the machine itself.
set -eu
conditions=+$1+
shift
has() { case $conditions in *+$1+*) ;; *) return 1 ;; esac; }
fail() {
  echo "machine.sh: $1" >&2
  exit 1
}

if has core; then
  set -- taskset -c "$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)" "$@"
fi
# If the current user is already an ordinary user, `user` needs no change.
if has docker || has shm || has ipv4; then
  [ "$(id -u)" = 0 ] || fail 'docker, shm and ipv4 take root'
elif [ "$(id -u)" != 0 ] || ! has user; then
  exec "$@"
fi

if has user; then set -- --reuid=12345 --regid=12345 --clear-groups "$@"; fi
if has docker; then
  capabilities=+chown,+dac_override,+fsetid,+fowner,+mknod,+net_raw,+setgid,+setuid,+setfcap,+setpcap,+net_bind_service,+sys_chroot
  set -- --bounding-set=-all,$capabilities,+kill,+audit_write "$@"
fi
set -- setpriv --inh-caps=-all "$@"

inside='
case $0 in *+shm+*) mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm ;; esac
case $0 in *+ipv4+*)
  ip link set lo up
  # Adds a network without hosts. Without a network, browsers report that they are offline, and uploads wait.
  ip link add eth0 type veth peer name eth1
  ip address add 192.0.2.1/24 dev eth0
  ip link set eth0 up
  ip link set eth1 up
  echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 ;;
esac
case $0 in *+docker+*) echo 0 >/proc/sys/user/max_user_namespaces ;; esac
exec "$@"'
set -- sh -euc "$inside" "$conditions" "$@"
if has docker; then
  # Docker's seccomp profile refuses user namespaces. A user namespace with a limit of 0 and an identity map has the same effect.
  map='0 0 4294967295'
  (until echo "$map" >/proc/$$/gid_map; do [ -d /proc/$$ ] && sleep 0.05 || exit 1; done 2>/dev/null && echo "$map" >/proc/$$/uid_map) &
  set -- sh -euc 'for try in $(seq 200); do [ "$(id -u)" = 0 ] && exec "$@"; sleep 0.05; done; exit 1' sh "$@"
fi
exec unshare --mount $(has ipv4 && echo --net) $(has docker && echo --user) "$@"
