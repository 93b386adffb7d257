#!/usr/bin/env bash
# Starts a real Slurm with four virtual nodes on this host, in a network namespace of its own, and runs a command in it,
# with SLURM_CONF set. All daemons are ended again, by process id.
# Usage: slurm.sh DIRECTORY COMMAND…
# Exits with 77 and prints why if Slurm is not installed or the user is not root.
set -uo pipefail
directory=$1
shift
nodes=4
port=16817
space=cohort-slurm-$$
host=$(hostname -s)

skip() {
  echo "skipped: $1" >&2
  exit 77
}
[ "$(id -u)" -eq 0 ] || skip "only root can make a network namespace for Slurm"
for program in slurmctld slurmd srun munged; do
  command -v $program >/dev/null || PATH=$PATH:/usr/sbin command -v $program >/dev/null ||
    skip "there is no $program: install slurm-wlm and munge"
done
PATH=$PATH:/usr/sbin

# The daemons remove their pid files before they have ended.
stop() {
  local pids pid
  pids=$(cat "$directory"/*.pid 2>/dev/null)
  for pid in $pids; do kill "$pid" 2>/dev/null; done
  for _ in $(seq 1 100); do
    local alive=
    for pid in $pids; do [ -n "$(sed -n '/^State:[[:space:]]*[^Z]/p' "/proc/$pid/status" 2>/dev/null)" ] && alive=1; done
    [ -n "$alive" ] || break
    sleep 0.1
  done
  for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
  ip netns delete "$space" 2>/dev/null
}

write_configuration() {
  cat >"$directory/slurm.conf" <<CONF
ClusterName=cohort
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$directory/munge.socket
SlurmUser=root
SlurmdUser=root
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmctldPidFile=$directory/slurmctld.pid
SlurmdPidFile=$directory/slurmd.%n.pid
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool.%n
# Nodes that share a host must not share the directory of the PMIx plugin.
TmpFS=$directory/tmp.%n
SlurmctldLogFile=$directory/slurmctld.log
SlurmdLogFile=$directory/slurmd.%n.log
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
CONF
}

start() {
  rm -rf "$directory"
  mkdir -p "$directory/state" "$directory/munge"
  chmod 755 "$directory"
  chmod 700 "$directory/munge"
  for i in $(seq 1 $nodes); do mkdir -p "$directory/spool.n$i" "$directory/tmp.n$i"; done
  head -c 1024 /dev/urandom >"$directory/munge/key"
  chmod 400 "$directory/munge/key"
  write_configuration

  # Host names are resolved only if there is an address besides that of the loopback.
  ip netns add "$space" || return 1
  inside="nsenter --net=/run/netns/$space"
  $inside ip link set lo up
  $inside ip link add cohort0 type veth peer name cohort1
  $inside ip address add 10.213.0.1/24 dev cohort0
  $inside ip link set cohort0 up
  $inside ip link set cohort1 up

  munged --key-file="$directory/munge/key" --socket="$directory/munge.socket" --pid-file="$directory/munged.pid" \
    --log-file="$directory/munge/log" --seed-file="$directory/munge/seed" --force || return 1
  export SLURM_CONF=$directory/slurm.conf
  $inside slurmctld -f "$SLURM_CONF" || return 1
  for i in $(seq 1 $nodes); do $inside slurmd -N "n$i" -f "$SLURM_CONF" || return 1; done
  for _ in $(seq 1 60); do
    [ "$($inside sinfo -h -t idle -o %D 2>/dev/null)" = $nodes ] && return 0
    sleep 0.5
  done
  return 1
}

trap stop EXIT
if ! start; then
  echo "Slurm does not start:" >&2
  tail -n 20 "$directory"/*.log >&2
  exit 1
fi
$inside "$@"
